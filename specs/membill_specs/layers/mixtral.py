"""The layer of Mixtral."""

from collections.abc import Callable

from membill.spec import Tensor, layer, scope
from membill.symbols import E, d, d_e, d_k, h, k
from membill_specs.blocks import (
    eager_swiglu,
    flash,
    gated_experts,
    hugging_face_rms_norm,
    identity,
    rotary_attention,
    softmax_router,
)
from membill_specs.ops import add
from membill_specs.ops import dropout as dropout_op


@layer(
    "mixtral",
    title="Mixtral layer",
    source="Jiang et al. 2024; transformers 5.24, MixtralDecoderLayer with grouped_mm",
    where={d_k: d / h},
)
def mixtral(
    x: Tensor,
    *,
    attention: Callable[..., Tensor] = flash,
    norm: Callable[..., Tensor] = hugging_face_rms_norm,
    swiglu: Callable[..., Tensor] = eager_swiglu,
    dropout: bool = False,
) -> Tensor:
    """Llama's layer with E experts for its feed-forward layer, of which each token visits k.

    No token is dropped. Dropout acts on the attention probabilities.
    """
    drop = dropout_op if dropout else identity
    with scope("norms"):
        y = norm(x, name="before_attention")
    with scope("attention"):
        y = rotary_attention(y, attention=attention, drop=drop)
        x = add(x, y, name="residual")
    with scope("norms"):
        y = norm(x, name="before_experts")
    with scope("router"):
        weights = softmax_router(y, E, k)
    with scope("experts"):
        y = gated_experts(y, weights, E, d_e, gated=swiglu)
        return add(x, y, name="residual")
