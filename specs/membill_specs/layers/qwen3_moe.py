"""The layer of Qwen3's models with experts."""

from collections.abc import Callable
from functools import partial

from membill.spec import Tensor, layer, scope
from membill.symbols import E, d_e, k
from membill_specs.blocks import (
    flash,
    gated_experts,
    hugging_face_rms_norm,
    identity,
    per_head,
    rotary_attention,
    softmax_router,
)
from membill_specs.ops import add
from membill_specs.ops import dropout as dropout_op


@layer(
    "qwen3_moe",
    title="Qwen3 layer with experts",
    source="Yang et al. 2025; transformers 5.24, Qwen3MoeDecoderLayer with grouped_mm",
)
def qwen3_moe(
    x: Tensor,
    *,
    attention: Callable[..., Tensor] = flash,
    norm: Callable[..., Tensor] = hugging_face_rms_norm,
    normalised: bool = True,
    dropout: bool = False,
) -> Tensor:
    """Qwen3's layer with E experts for its feed-forward layer, of which each token visits k.

    Their weights, normalised to a sum of one, are cast back to the compute dtype. No token is
    dropped. Dropout acts on the attention probabilities.
    """
    drop = dropout_op if dropout else identity
    with scope("norms"):
        y = norm(x, name="before_attention")
    with scope("attention"):
        y = rotary_attention(y, attention=attention, drop=drop, head_norm=partial(per_head, norm))
        x = add(x, y, name="residual")
    with scope("norms"):
        y = norm(x, name="before_experts")
    with scope("router"):
        weights = softmax_router(y, E, k, normalised=normalised, cast_back=True)
    with scope("experts"):
        return add(x, gated_experts(y, weights, E, d_e), name="residual")
