"""Reductions over the features of a token."""

from membill.spec import Declared, Role, Tensor, needs, op


@op(source="PyTorch derivatives.yaml: mean")
def mean(x: Tensor) -> Declared:
    """The mean over the features: one number per token."""
    y = x.like(shape=x.leading, role=Role.STATISTIC)
    return y, {x: needs(tex=r"\bar x = \tfrac{1}{n} \bar y")}
