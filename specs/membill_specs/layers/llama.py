"""The layer of Llama 2 and Llama 3."""

from collections.abc import Callable

from membill.spec import Tensor, constant, layer, scope
from membill.symbols import T, d, d_ff, d_k, h, n_kv
from membill_specs.blocks import eager_swiglu, flash, fused_rms_norm, gated_mlp, identity
from membill_specs.ops import add, linear, rotary
from membill_specs.ops import dropout as dropout_op


@layer(
    "llama",
    title="Llama layer",
    source="Touvron et al. 2023; Grattafiori et al. 2024",
    where={d_k: d / h},
)
def llama(
    x: Tensor,
    *,
    attention: Callable[..., Tensor] = flash,
    norm: Callable[..., Tensor] = fused_rms_norm,
    swiglu: Callable[..., Tensor] = eager_swiglu,
    attention_bias: bool = False,
    mlp_bias: bool = False,
    dropout: bool = False,
) -> Tensor:
    """Pre-norm layer: RMSNorm, grouped-query attention with rotary positions, RMSNorm, SwiGLU.

    Biases, of all projections of a half, and dropout, of the attention probabilities, are options
    of the class; Llama was trained without.
    """
    cos, sin = constant("cos", T, d_k), constant("sin", T, d_k)
    with scope("norms"):
        y = norm(x, name="before_attention")
    with scope("attention"):
        q = linear(y, h, d_k, name="q", bias=attention_bias)
        k = linear(y, n_kv, d_k, name="k", bias=attention_bias)
        v = linear(y, n_kv, d_k, name="v", bias=attention_bias)
        q, k = rotary(q, cos, sin, name="rotary_q"), rotary(k, cos, sin, name="rotary_k")
        y = attention(q, k, v, dropout_op if dropout else identity)
        y = linear(y, d, name="out", bias=attention_bias)
        x = add(x, y, name="residual")
    with scope("norms"):
        y = norm(x, name="before_mlp")
    with scope("mlp"):
        return add(x, gated_mlp(y, d_ff, gated=swiglu, bias=mlp_bias), name="residual")
