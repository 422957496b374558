"""Gemma 2."""

from collections.abc import Callable

from membill.spec import Slot, Tensor, architecture, repeat
from membill.symbols import L
from membill_specs.blocks import gemma_rms_norm, soft_cap
from membill_specs.blocks.embedding import scaled_tokens
from membill_specs.blocks.loss import LOGITS, OUTPUT, eager_loss


def head(x: Tensor, *, loss: Callable[..., Tensor] = eager_loss) -> Tensor:
    """The final RMSNorm, soft-capped logits and the loss; no bias."""
    return loss(gemma_rms_norm(x, name="final_norm"), cap=soft_cap)


architecture(
    "gemma2",
    title="Gemma 2",
    source="Gemma Team 2024; transformers 5.24, Gemma2ForCausalLM",
    start=scaled_tokens,
    layers=[
        repeat(L / 2, Slot("gemma2", cache="sliding-window"), Slot("gemma2", cache="grouped-query"))
    ],
    end=head,
    tied=LOGITS,
    output=OUTPUT,
)
