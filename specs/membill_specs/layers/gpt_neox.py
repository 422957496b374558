"""The layer of GPT-NeoX and Pythia."""

from collections.abc import Callable

from membill.spec import Tensor, layer, scope
from membill.symbols import d, d_ff, d_k, h
from membill_specs.blocks import flash, fused_gelu, fused_qkv, gelu_mlp, identity, rotated
from membill_specs.ops import add, copy, layer_norm, linear
from membill_specs.ops import dropout as dropout_op


@layer(
    "gpt_neox",
    title="GPT-NeoX layer",
    source="Black et al. 2022; transformers 5.24, GPTNeoXLayer",
    where={d_k: d / h, d_ff: 4 * d},
)
def gpt_neox(
    x: Tensor,
    *,
    attention: Callable[..., Tensor] = flash,
    gelu: Callable[[Tensor], Tensor] = fused_gelu,
    dropout: bool = False,
) -> Tensor:
    """Attention and MLP side by side on the same input, each with a norm of its own.

    A quarter of each head is rotated and concatenated with the rest, which lays the heads out
    first, and the kernel's output with them: the output projection reads a copy. Dropout acts on
    the attention probabilities and on the output of each half. GPT-NeoX-20B takes the `fast` GELU,
    Pythia the `fused` one.
    """
    drop = dropout_op if dropout else identity
    with scope("norms"):
        y, z = layer_norm(x, name="before_attention"), layer_norm(x, name="before_mlp")
    with scope("attention"):
        q, k, v = fused_qkv(y, h, h, h, bias=True)
        q, k = rotated(q, k, d_k / 4)
        y = copy(attention(q, k, v, drop), name="tokens_first")
        y = drop(linear(y, d, name="out", bias=True))
    with scope("mlp"):
        z = drop(gelu_mlp(z, d_ff, bias=True, activation=gelu))
    return add(add(z, y, name="halves"), x, name="residual")
