"""GPT-2's layer as Hugging Face runs it."""

from collections.abc import Callable

from membill.spec import Tensor, layer, scope
from membill.symbols import d, d_ff, d_k, h
from membill_specs.blocks import flash, fused_qkv, gelu_by_tanh, gelu_mlp, identity
from membill_specs.ops import add, layer_norm, linear
from membill_specs.ops import dropout as dropout_op


@layer(
    "gpt2",
    title="GPT-2 layer",
    source="Radford et al. 2019; transformers 5.24, GPT2Block",
    where={d_k: d / h, d_ff: 4 * d},
)
def gpt2(
    x: Tensor,
    *,
    attention: Callable[..., Tensor] = flash,
    dropout: bool = True,
) -> Tensor:
    """GPT-3's layer with one projection for queries, keys and values, and GELU op by op.

    Dropout acts on the attention probabilities and on the output of each half.
    """
    drop = dropout_op if dropout else identity
    with scope("norms"):
        y = layer_norm(x, name="before_attention")
    with scope("attention"):
        q, k, v = fused_qkv(y, h, h, h, bias=True)
        y = linear(attention(q, k, v, drop), d, name="out", bias=True)
        x = add(x, drop(y), name="residual")
    with scope("norms"):
        y = layer_norm(x, name="before_mlp")
    with scope("mlp"):
        y = gelu_mlp(y, d_ff, bias=True, activation=gelu_by_tanh)
        return add(x, drop(y), name="residual")
