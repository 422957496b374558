"""The layer of BERT."""

from collections.abc import Callable

from membill.spec import Tensor, layer, scope
from membill.symbols import d, d_ff, d_k, h
from membill_specs.blocks import flash, gelu_mlp, identity
from membill_specs.ops import add, layer_norm, linear
from membill_specs.ops import dropout as dropout_op


@layer(
    "bert",
    title="BERT layer",
    source="Devlin et al. 2019; transformers 5.24, BertLayer",
    where={d_k: d / h, d_ff: 4 * d},
)
def bert(
    x: Tensor,
    *,
    attention: Callable[..., Tensor] = flash,
    dropout: bool = True,
) -> Tensor:
    """Post-norm: each half's output is added to its input and the sum normalised.

    Dropout acts on the attention probabilities and on the output of each half.
    """
    drop = dropout_op if dropout else identity
    with scope("attention"):
        q, k, v = (linear(x, h, d_k, name=name, bias=True) for name in ("q", "k", "v"))
        y = linear(attention(q, k, v, drop), d, name="out", bias=True)
        x = add(x, drop(y), name="residual")
    with scope("norms"):
        x = layer_norm(x, name="after_attention")
    with scope("mlp"):
        x = add(x, drop(gelu_mlp(x, d_ff, bias=True)), name="residual")
    with scope("norms"):
        return layer_norm(x, name="after_mlp")
