"""Matrix products with a weight."""

from membill.spec import Declared, Tensor, needs, op, weight


@op(source="PyTorch derivatives.yaml: linear")
def linear(x: Tensor, *out: object, bias: bool = False) -> Declared:
    """y = x W (+ bias), contracting the feature axes of x."""
    w = weight("weight", *x.features, *out)
    y = x.like(shape=(*x.leading, *out))
    gradients = {
        x: needs(w, tex=r"\bar X = \bar Y W^\top"),
        w: needs(x, tex=r"\bar W = X^\top \bar Y"),
    }
    if bias:
        gradients[weight("bias", *out)] = needs(tex=r"\bar b = \sum \bar Y")
    return y, gradients
