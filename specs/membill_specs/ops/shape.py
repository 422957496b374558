"""Copies and views that change the shape."""

from membill.spec import INT64, Declared, Role, Tensor, needs, op


@op(source="PyTorch derivatives.yaml: expand, clone")
def repeat_heads(x: Tensor, heads: object) -> Declared:
    """Copy each key-value head to all the query heads that share it: (b, T, heads, d_k)."""
    y = x.like(shape=(*x.leading, heads, *x.features[1:]))
    return y, {x: needs(tex=r"\bar x = \sum_{\text{copies}} \bar y")}


@op(source="PyTorch derivatives.yaml: clone")
def copy(x: Tensor) -> Declared:
    """The same entries in a storage of their own."""
    return x.like(), {x: needs(tex=r"\bar x = \bar y", passes=True)}


@op(source="PyTorch derivatives.yaml: cat")
def concatenate(x: Tensor, y: Tensor) -> Declared:
    """Each head of x, then the same head of y or the only one that it has; a new storage."""
    z = x.like(shape=(*x.shape[:-1], x.shape[-1] + y.shape[-1]))
    return z, {
        x: needs(tex=r"(\bar x, \cdot) = \bar z", passes=True),
        y: needs(tex=r"(\cdot, \bar y) = \bar z", passes=_heads(x) == _heads(y)),
    }


@op(source="PyTorch derivatives.yaml: slice, split, view")
def part(x: Tensor, *features: object) -> Declared:
    """Some of each token's features, as a view: whoever keeps it keeps all of x."""
    return x.view(*x.leading, *features), {x: needs(tex=r"\bar x = (\bar y, 0)", joins=True)}


@op(source="PyTorch derivatives.yaml: index")
def take(x: Tensor, *features: object) -> Declared:
    """Some of each token's features, picked by an index: a copy that keeps the index, one entry."""
    index = x.like("index", shape=(1,), dtype=INT64, role=Role.BOOKKEEPING)
    y = x.like(shape=(*x.leading, *features))
    return y, {x: needs(index, tex=r"\bar x_i = \bar y,\ 0 \text{ elsewhere}")}


@op(source="PyTorch derivatives.yaml: view")
def regroup(x: Tensor, leading_axes: int) -> Declared:
    """x with its first axes as tokens and the rest as features: 3 makes each head a token."""
    return x.view(leading_axes=leading_axes), {x: needs(tex=r"\bar x = \bar y", passes=True)}


def _heads(x: Tensor) -> tuple[object, ...]:
    """All axes but the entries of a head."""
    return x.shape[:-1]
