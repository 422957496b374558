"""Llama 2 and Llama 3."""

from collections.abc import Callable

from membill.spec import Slot, Tensor, architecture, repeat
from membill.symbols import L
from membill_specs.blocks import fused_rms_norm
from membill_specs.blocks.embedding import rotary_tokens
from membill_specs.blocks.loss import LOGITS, OUTPUT, eager_loss


def head(
    x: Tensor,
    *,
    norm: Callable[..., Tensor] = fused_rms_norm,
    loss: Callable[..., Tensor] = eager_loss,
) -> Tensor:
    """The final RMSNorm, logits and the loss; no bias."""
    return loss(norm(x, name="final_norm"))


architecture(
    "llama",
    title="Llama",
    source="Touvron et al. 2023; Grattafiori et al. 2024",
    start=rotary_tokens,
    layers=[repeat(L, Slot("llama", cache="grouped-query"))],
    end=head,
    tied=LOGITS,
    output=OUTPUT,
)
