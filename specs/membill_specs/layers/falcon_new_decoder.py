"""The layer of Falcon 40B and 180B."""

from collections.abc import Callable

from membill.spec import Tensor, layer, scope
from membill.symbols import d, d_ff, d_k, h, n_kv
from membill_specs.blocks import flash, gelu_mlp, identity, rotated
from membill_specs.ops import add, layer_norm, linear, part, repeat_heads, take
from membill_specs.ops import dropout as dropout_op


@layer(
    "falcon_new_decoder",
    title="Falcon layer, new decoder architecture",
    source="Almazrouei et al. 2023; transformers 5.24, FalconDecoderLayer",
    where={d_k: d / h, d_ff: 4 * d},
)
def falcon_new_decoder(
    x: Tensor,
    *,
    attention: Callable[..., Tensor] = flash,
    fused_projection: bool = True,
    dropout: bool = False,
) -> Tensor:
    """Attention and MLP side by side, each with a norm of its own; grouped key-value heads.

    Keys and values are picked out of the fused projection and copied to all the query heads that
    share them, before any kernel (of one head alone, values are not); no bias. Without
    the fused projection there are three, as adapters on queries and values are counted. Dropout
    acts on the sum of the two halves.
    """
    drop = dropout_op if dropout else identity
    with scope("norms"):
        y, z = layer_norm(x, name="before_attention"), layer_norm(x, name="before_mlp")
    with scope("attention"):
        q, k, v = (_fused if fused_projection else _separate)(y)
        q, k = rotated(q, repeat_heads(k, h, name="k_heads"))
        y = linear(attention(q, k, repeat_heads(v, h, name="v_heads")), d, name="out")
    with scope("mlp"):
        z = gelu_mlp(z, d_ff)
    return add(x, drop(add(z, y, name="halves")), name="residual")


def _fused(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    fused = linear(x, (h + 2 * n_kv) * d_k, name="qkv")
    q = part(fused, h, d_k, name="q")
    return q, take(fused, n_kv, d_k, name="k"), take(fused, n_kv, d_k, name="v")


def _separate(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    q = linear(x, h, d_k, name="q")
    return q, linear(x, n_kv, d_k, name="k"), linear(x, n_kv, d_k, name="v")
