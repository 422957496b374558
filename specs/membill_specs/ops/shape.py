"""Copies that change the shape."""

from membill.spec import Declared, Tensor, needs, op


@op(source="PyTorch derivatives.yaml: expand, clone")
def repeat_heads(x: Tensor, heads: object) -> Declared:
    """Copy each key-value head to all the query heads that share it: (b, T, heads, d_k)."""
    y = x.like(shape=(*x.leading, heads, *x.features[1:]))
    return y, {x: needs(tex=r"\bar x = \sum_{\text{copies}} \bar y")}
