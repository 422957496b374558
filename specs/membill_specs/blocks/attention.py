"""Attention cores: from queries, keys and values to the weighted sum of the values.

Each takes `drop`, what is done to the attention probabilities (`ops.dropout` or `identity`), and
`cap`, what is done to the scores before the softmax (`soft_cap` or `identity`).
"""

from collections.abc import Callable

from membill.spec import FLOAT32, Tensor, choice, scope
from membill_specs.ops import (
    affine,
    attention_context,
    attention_scores,
    cast,
    copy,
    flash_attention,
    repeat_heads,
    softmax,
    tanh,
)

Unary = Callable[[Tensor], Tensor]


def identity(x: Tensor) -> Tensor:
    """No operation at all."""
    return x


def soft_cap(scores: Tensor) -> Tensor:
    """c tanh(s / c): bounds the scores."""
    with scope("cap"):
        return affine(tanh(affine(scores, name="divided")), name="multiplied")


def per_query_head(x: Tensor, heads: object, name: str) -> Tensor:
    """What a batched product reads of queries, keys or values: one matrix for each query head.

    Shared heads are copied to as many, and a part of a fused projection is copied out of it: the
    product steps through batch and heads as one axis. With b = 1 it need not, and some of these
    copies are not made.
    """
    if x.features[0] != heads:
        return repeat_heads(x, heads, name=name)
    return copy(x, name=name) if x.entries != x.storage.entries else x


@choice("attention", "eager")
def eager_attention(
    q: Tensor, k: Tensor, v: Tensor, drop: Unary = identity, cap: Unary = identity
) -> Tensor:
    """One op after the other; the T by T matrices are stored."""
    with scope("core"):
        q, k, v = _matrices(q, k, v)
        p = drop(softmax(cap(attention_scores(q, k, name="scores"))))
        return attention_context(p, v, name="context")


@choice("attention", "eager-float32")
def eager_float32_attention(
    q: Tensor, k: Tensor, v: Tensor, drop: Unary = identity, cap: Unary = identity
) -> Tensor:
    """As `eager`, with the softmax in float32 and its result cast back."""
    with scope("core"):
        q, k, v = _matrices(q, k, v)
        wide = cast(cap(attention_scores(q, k, name="scores")), FLOAT32, name="float32")
        p = drop(cast(softmax(wide), q.dtype))
        return attention_context(p, v, name="context")


@choice("attention", "flash")
def flash(q: Tensor, k: Tensor, v: Tensor, drop: Unary = identity, cap: Unary = identity) -> Tensor:
    """One kernel, which drops and caps within itself and reads shared key-value heads in place."""
    with scope("core"):
        return flash_attention(q, k, v, name="flash")


@choice("attention", "math")
def math_attention(
    q: Tensor, k: Tensor, v: Tensor, drop: Unary = identity, cap: Unary = identity
) -> Tensor:
    """What PyTorch's SDPA falls back to where no fused kernel fits: all of it in float32."""
    with scope("core"):
        wide = [
            cast(x, FLOAT32, name=f"{n}_float32") for n, x in zip("qkv", (q, k, v), strict=True)
        ]
        q_wide, k_wide, v_wide = wide
        scaled = affine(q_wide, name="q_scaled"), affine(k_wide, name="k_scaled"), v_wide
        q_wide, k_wide, v_wide = _matrices(*scaled)
        p = drop(softmax(cap(attention_scores(q_wide, k_wide, name="scores"))))
        return cast(attention_context(p, v_wide, name="context"), q.dtype)


def _matrices(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    heads = q.features[0]
    return (
        per_query_head(q, heads, "q"),
        per_query_head(k, heads, "k"),
        per_query_head(v, heads, "v"),
    )
