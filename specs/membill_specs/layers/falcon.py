"""The layer of Falcon 7B."""

from collections.abc import Callable

from membill.spec import Tensor, layer, scope
from membill.symbols import d, d_ff, d_k, h
from membill_specs.blocks import flash, gelu_mlp, identity, rotated
from membill_specs.ops import add, layer_norm, linear, part, take
from membill_specs.ops import dropout as dropout_op


@layer(
    "falcon",
    title="Falcon layer",
    source="Almazrouei et al. 2023; transformers 5.24, FalconDecoderLayer",
    where={d_k: d / h, d_ff: 4 * d},
)
def falcon(
    x: Tensor,
    *,
    attention: Callable[..., Tensor] = flash,
    dropout: bool = False,
) -> Tensor:
    """Attention and MLP side by side behind one norm; all query heads share one key-value head.

    Keys and values are picked out of the fused projection by an index, which copies them; no
    bias. Dropout acts on the sum of the two halves. SDPA, not told that heads are shared, runs
    `attention=math`.
    """
    drop = dropout_op if dropout else identity
    with scope("norms"):
        y = layer_norm(x, name="input")
    with scope("attention"):
        fused = linear(y, (h + 2) * d_k, name="qkv")
        q = part(fused, h, d_k, name="q")
        k, v = take(fused, 1, d_k, name="k"), take(fused, 1, d_k, name="v")
        q, k = rotated(q, k)
        z = linear(attention(q, k, v), d, name="out")
    with scope("mlp"):
        y = gelu_mlp(y, d_ff)
    return add(x, drop(add(y, z, name="halves")), name="residual")
