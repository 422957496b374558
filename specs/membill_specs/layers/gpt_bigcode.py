"""The layer of StarCoder."""

from collections.abc import Callable

import sympy

from membill.spec import Tensor, layer, scope
from membill.symbols import d, d_ff, d_k, h
from membill_specs.blocks import flash, fused_qkv, gelu_mlp, identity
from membill_specs.ops import add, layer_norm, linear
from membill_specs.ops import dropout as dropout_op

ONE = sympy.Integer(1)


@layer(
    "gpt_bigcode",
    title="GPTBigCode layer",
    source="Li et al. 2023, StarCoder; transformers 5.24, GPTBigCodeBlock",
    where={d_k: d / h, d_ff: 4 * d},
)
def gpt_bigcode(
    x: Tensor,
    *,
    attention: Callable[..., Tensor] = flash,
    dropout: bool = True,
) -> Tensor:
    """GPT-2's layer with one key-value head for all query heads, and GELU as one kernel.

    Dropout acts on the attention probabilities and on the output of each half.
    """
    drop = dropout_op if dropout else identity
    with scope("norms"):
        y = layer_norm(x, name="before_attention")
    with scope("attention"):
        q, k, v = fused_qkv(y, h, ONE, ONE, bias=True)
        y = linear(attention(q, k, v, drop), d, name="out", bias=True)
        x = add(x, drop(y), name="residual")
    with scope("norms"):
        y = layer_norm(x, name="before_mlp")
    with scope("mlp"):
        return add(x, drop(gelu_mlp(y, d_ff, bias=True)), name="residual")
