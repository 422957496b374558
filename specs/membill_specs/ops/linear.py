"""Matrix products with a weight."""

from membill.spec import Declared, Tensor, dims, needs, op, product, weight


@op(source="PyTorch derivatives.yaml: linear")
def linear(x: Tensor, *out: object, bias: bool = False) -> Declared:
    """y = x W (+ bias), contracting the feature axes of x."""
    w = weight("weight", *x.features, *out, dtype=x.dtype)
    y = x.like(shape=(*x.leading, *out))
    flops = 2 * x.entries * product(dims(out))
    gradients = {
        x: needs(w, tex=r"\bar X = \bar Y W^\top", flops=flops),
        w: needs(x, tex=r"\bar W = X^\top \bar Y", flops=flops),
    }
    if bias:
        gradients[weight("bias", *out, dtype=x.dtype)] = needs(tex=r"\bar b = \sum \bar Y")
    return y, gradients, flops
