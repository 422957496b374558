"""Reductions over an axis."""

from membill.spec import Declared, Role, Tensor, needs, op


@op(source="PyTorch derivatives.yaml: mean")
def mean(x: Tensor) -> Declared:
    """The mean over the features: one number per token."""
    y = x.like(shape=x.leading, role=Role.STATISTIC)
    return y, {x: needs(tex=r"\bar x = \tfrac{1}{n} \bar y")}


@op(source="PyTorch derivatives.yaml: sum")
def sum_over(x: Tensor, axis: int) -> Declared:
    """The sum over one axis."""
    place = axis % len(x.shape)
    shape = (*x.shape[:place], *x.shape[place + 1 :])
    leading = x.leading_axes - (place < x.leading_axes)
    role = x.role if len(shape) > leading else Role.STATISTIC
    return x.like(shape=shape, leading_axes=leading, role=role), {
        x: needs(tex=r"\bar x_i = \bar y", passes=True)
    }
