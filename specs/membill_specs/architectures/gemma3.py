"""Gemma 3, the part for text."""

from collections.abc import Callable

from sympy import floor

from membill.spec import FLOAT32, Slot, Tensor, architecture, buffer, repeat, scope
from membill.symbols import L, d_k
from membill_specs.blocks import gemma_rms_norm
from membill_specs.blocks.embedding import tokens
from membill_specs.blocks.loss import LOGITS, OUTPUT, eager_loss
from membill_specs.ops import affine

LOCAL = Slot("gemma3", cache="sliding-window", options={"local": True})
GLOBAL = Slot("gemma3", cache="grouped-query")


def scaled_tokens() -> Tensor:
    """The embedding of each token times a number; heads are rotated by frequencies of two kinds.

    As transformers 5.24's Gemma3TextScaledWordEmbedding and Gemma3RotaryEmbedding.
    """
    with scope("rotary"):
        for kind in ("full_attention", "sliding_attention"):
            buffer(f"{kind}_inv_freq", d_k / 2, dtype=FLOAT32)
            buffer(f"{kind}_original_inv_freq", d_k / 2, dtype=FLOAT32)
    buffer("embed_scale", dtype=FLOAT32)
    return affine(tokens(), name="scaled")


def head(x: Tensor, *, loss: Callable[..., Tensor] = eager_loss) -> Tensor:
    """The final RMSNorm, logits and the loss; no bias."""
    return loss(gemma_rms_norm(x, name="final_norm"))


architecture(
    "gemma3",
    title="Gemma 3",
    source="Gemma Team 2025; transformers 5.24, Gemma3ForCausalLM",
    start=scaled_tokens,
    layers=[
        repeat(floor(L / 6), LOCAL, LOCAL, LOCAL, LOCAL, LOCAL, GLOBAL),
        repeat(L - 6 * floor(L / 6), LOCAL),
    ],
    end=head,
    tied=LOGITS,
    output=OUTPUT,
    summary="Five of each six layers have a window, and all of what six leaves.",
)
