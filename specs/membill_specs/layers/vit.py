"""The layer of the Vision Transformer."""

from collections.abc import Callable

from membill.spec import Tensor, layer, scope
from membill.symbols import d, d_ff, d_k, h
from membill_specs.blocks import flash, gelu_mlp, identity
from membill_specs.ops import add, layer_norm, linear
from membill_specs.ops import dropout as dropout_op


@layer(
    "vit",
    title="ViT layer",
    source="Dosovitskiy et al. 2021; transformers 5.24, ViTLayer",
    where={d_k: d / h, d_ff: 4 * d},
)
def vit(
    x: Tensor,
    *,
    attention: Callable[..., Tensor] = flash,
    dropout: bool = False,
) -> Tensor:
    """GPT-3's layer over the patches of an image: T counts them and the class token.

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
