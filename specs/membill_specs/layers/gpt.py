"""The layer of GPT-2 and GPT-3."""

from collections.abc import Callable

from membill.spec import Tensor, layer, scope
from membill.symbols import d, d_ff, d_k, h
from membill_specs.blocks import eager_attention, gelu_mlp, identity
from membill_specs.ops import add, layer_norm, linear
from membill_specs.ops import dropout as dropout_op


@layer(
    "gpt",
    title="GPT-3 layer",
    source="Brown et al. 2020; Korthikanti et al. 2022, section 4",
    where={d_k: d / h, d_ff: 4 * d},
)
def gpt(
    x: Tensor, *, attention: Callable[..., Tensor] = eager_attention, dropout: bool = True
) -> Tensor:
    """Pre-norm transformer layer: LayerNorm, multi-head attention, LayerNorm, GELU MLP.

    Dropout acts on the attention probabilities and on the output of each half.
    """
    drop = dropout_op if dropout else identity
    with scope("norms"):
        y = layer_norm(x, name="before_attention")
    with scope("attention"):
        q, k, v = (linear(y, h, d_k, name=name, bias=True) for name in ("q", "k", "v"))
        y = linear(attention(q, k, v, drop), d, name="out", bias=True)
        x = add(x, drop(y), name="residual")
    with scope("norms"):
        y = layer_norm(x, name="before_mlp")
    with scope("mlp"):
        return add(x, drop(gelu_mlp(y, d_ff, bias=True)), name="residual")
