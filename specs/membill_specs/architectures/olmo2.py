"""OLMo 2."""

from collections.abc import Callable

from membill.spec import Slot, Tensor, architecture, repeat
from membill.symbols import L
from membill_specs.blocks import olmo_rms_norm
from membill_specs.blocks.embedding import rotary_tokens
from membill_specs.blocks.loss import LOGITS, OUTPUT, eager_loss


def head(x: Tensor, *, loss: Callable[..., Tensor] = eager_loss) -> Tensor:
    """The final RMSNorm, logits and the loss; no bias."""
    return loss(olmo_rms_norm(x, name="final_norm"))


architecture(
    "olmo2",
    title="OLMo 2",
    source="OLMo Team 2025, 2 OLMo 2 Furious; transformers 5.24, Olmo2ForCausalLM",
    start=rotary_tokens,
    layers=[repeat(L, Slot("olmo2", cache="grouped-query"))],
    end=head,
    tied=LOGITS,
    output=OUTPUT,
)
