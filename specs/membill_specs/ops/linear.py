"""Matrix products with a weight."""

from membill.spec import Declared, DType, Role, Tensor, dims, needs, op, product, weight


@op(source="PyTorch derivatives.yaml: linear")
def linear(x: Tensor, *out: object, bias: bool = False, dtype: DType | None = None) -> Declared:
    """y = x W (+ bias), contracting the feature axes of x; in the dtype of x unless told.

    A weight that is stored in another dtype than that of x is cast to it, and the cast kept.
    """
    dtype = dtype or x.dtype
    w = weight("weight", *x.features, *out, dtype=dtype, inputs=len(x.features))
    factor = w if w.dtype == x.dtype else w.like("weight_cast", dtype=x.dtype, role=Role.ACTIVATION)
    y = x.like(shape=(*x.leading, *out), dtype=dtype)
    flops = 2 * x.entries * product(dims(out))
    gradients = {
        x: needs(factor, tex=r"\bar X = \bar Y W^\top", flops=flops),
        w: needs(
            x,
            tex=r"\bar W = X^\top \bar Y",
            flops=flops,
            scratch=[] if factor is w else [factor],
        ),
    }
    if bias:
        gradients[weight("bias", *out, dtype=dtype)] = needs(tex=r"\bar b = \sum \bar Y")
    return y, gradients, flops
