"""The layer of Phi-1, Phi-1.5 and Phi-2."""

from collections.abc import Callable

from membill.spec import Tensor, layer, scope
from membill.symbols import d, d_ff, d_k, d_r, h, n_kv
from membill_specs.blocks import flash, gelu_by_tanh, gelu_mlp, identity, rotated
from membill_specs.ops import add, copy, layer_norm, linear
from membill_specs.ops import dropout as dropout_op


@layer(
    "phi",
    title="Phi layer",
    source="Li et al. 2023, Phi-1.5; transformers 5.24, PhiDecoderLayer",
    where={d_k: d / h, d_ff: 4 * d},
)
def phi(
    x: Tensor,
    *,
    attention: Callable[..., Tensor] = flash,
    dropout: bool = False,
) -> Tensor:
    """Attention and MLP side by side behind one norm; GELU op by op.

    d_r entries of each head are rotated and concatenated with the rest, which lays the heads out
    first, and the kernel's output with them: the output projection reads a copy. Dropout acts on
    the attention probabilities and on the output of each half.
    """
    drop = dropout_op if dropout else identity
    with scope("norms"):
        y = layer_norm(x, name="input")
    with scope("attention"):
        q = linear(y, h, d_k, name="q", bias=True)
        k = linear(y, n_kv, d_k, name="k", bias=True)
        v = linear(y, n_kv, d_k, name="v", bias=True)
        q, k = rotated(q, k, d_r)
        z = copy(attention(q, k, v, drop), name="tokens_first")
        z = drop(linear(z, d, name="out", bias=True))
    with scope("mlp"):
        y = drop(gelu_mlp(y, d_ff, bias=True, activation=gelu_by_tanh))
    return add(add(z, y, name="halves"), x, name="residual")
