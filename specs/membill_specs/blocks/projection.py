"""From a token's features to queries, keys and values, and on to attention's output."""

from collections.abc import Callable

import sympy

from membill.spec import FLOAT32, Tensor, constant
from membill.symbols import T, d_k, h, n_kv
from membill_specs.blocks.attention import flash, identity
from membill_specs.ops import cast, linear, part, rotary

Unary = Callable[[Tensor], Tensor]


def fused_qkv(x: Tensor, *heads: sympy.Expr, bias: bool = False) -> tuple[Tensor, ...]:
    """Queries, keys and values as parts of one projection's output, hence in one storage.

    heads: how many there are of each.
    """
    fused = linear(x, sympy.Add(*heads) * d_k, name="qkv", bias=bias)
    names = ("q", "k", "v")
    return tuple(
        part(fused, n, d_k, name=f"{name}_part") for n, name in zip(heads, names, strict=True)
    )


def rotated(
    q: Tensor, k: Tensor, width: object = d_k, tables: tuple[str, str] = ("cos", "sin")
) -> tuple[Tensor, Tensor]:
    """Queries and keys with `width` entries of each head rotated by the token's position.

    tables: names of the cosines and sines, which layers share that give them the same names.
    """
    cos, sin = (constant(name, T, width) for name in tables)
    return rotary(q, cos, sin, name="rotary_q"), rotary(k, cos, sin, name="rotary_k")


def rotated_in_float32(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    """As `rotated`, by tables in float32, and cast back."""
    cos, sin = (constant(name, T, d_k, dtype=FLOAT32) for name in ("cos", "sin"))
    q_wide, k_wide = rotary(q, cos, sin, name="rotary_q"), rotary(k, cos, sin, name="rotary_k")
    return cast(q_wide, q.dtype, name="q_cast"), cast(k_wide, k.dtype, name="k_cast")


def rotary_attention(
    x: Tensor,
    *,
    attention: Callable[..., Tensor] = flash,
    drop: Unary = identity,
    bias: bool = False,
    head_norm: Callable[..., Tensor] | None = None,
    rotate: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] = rotated,
) -> Tensor:
    """Grouped-query attention with rotary positions, from three projections and to one.

    bias: of the three. head_norm: applied to each head of the queries and of the keys.
    rotate: how these are rotated.
    """
    q = linear(x, h, d_k, name="q", bias=bias)
    k = linear(x, n_kv, d_k, name="k", bias=bias)
    v = linear(x, n_kv, d_k, name="v", bias=bias)
    if head_norm:
        q, k = head_norm(q, name="q_norm"), head_norm(k, name="k_norm")
    q, k = rotate(q, k)
    return linear(attention(q, k, v, drop), *x.features, name="out")
