"""Attention cores: from queries, keys and values to the weighted sum of the values.

Each takes `drop`, what is done to the attention probabilities: `ops.dropout` or `identity`.
"""

from collections.abc import Callable

from membill.spec import Tensor, choice, scope

from membill_specs.ops import (
    attention_context,
    attention_scores,
    flash_attention,
    repeat_heads,
    softmax,
)

Unary = Callable[[Tensor], Tensor]


def identity(x: Tensor) -> Tensor:
    """No operation at all."""
    return x


@choice("attention", "eager")
def eager_attention(q: Tensor, k: Tensor, v: Tensor, drop: Unary = identity) -> Tensor:
    """One op after the other; the T by T matrices are stored.

    Fewer key-value heads than query heads are copied to as many first.
    """
    heads = q.features[0]
    with scope("core"):
        if k.features[0] != heads:
            k, v = repeat_heads(k, heads, name="k"), repeat_heads(v, heads, name="v")
        p = drop(softmax(attention_scores(q, k, name="scores")))
        return attention_context(p, v, name="context")


@choice("attention", "flash")
def flash(q: Tensor, k: Tensor, v: Tensor, drop: Unary = identity) -> Tensor:
    """One kernel, which drops within itself and reads shared key-value heads in place."""
    with scope("core"):
        return flash_attention(q, k, v, name="flash")
