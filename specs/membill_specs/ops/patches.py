"""From the patches of an image to tokens, and from tokens to the one that stands for all."""

from membill.spec import Declared, Role, Tensor, needs, op, product, weight


@op(source="PyTorch derivatives.yaml: convolution")
def patch_embedding(patches: Tensor, width: object) -> Declared:
    """A product of each patch with a weight, and a bias: (b, T, width) from (b, T, numbers).

    A convolution whose stride is the size of its kernel; PyTorch keeps its input for either
    gradient. The patches take none.
    """
    numbers = patches.shape[-1]
    w = weight("weight", numbers, width, dtype=patches.dtype, inputs=1)
    bias = weight("bias", width, dtype=patches.dtype)
    shape = (*patches.shape[:-1], width)
    y = patches.like(shape=shape, role=Role.ACTIVATION, leading_axes=len(shape) - 1)
    flops = 2 * product(y.shape) * numbers
    return (
        y,
        {
            w: needs(patches, tex=r"\bar W = X^\top \bar Y", flops=flops),
            bias: needs(patches, tex=r"\bar b = \sum \bar Y"),
        },
        flops,
    )


@op(source="PyTorch derivatives.yaml: cat, expand")
def prepend_row(x: Tensor) -> Declared:
    """x with a learned token before the others: (b, T + 1, d) from (b, T, d)."""
    batch, tokens = x.leading
    y = x.like(shape=(batch, tokens + 1, *x.features))
    row = weight("weight", *x.features)
    return y, {
        x: needs(tex=r"\bar x = \bar y_{1:}", passes=True),
        row: needs(tex=r"\bar w = \sum_b \bar y_0"),
    }


@op(source="PyTorch derivatives.yaml: add")
def add_rows(x: Tensor, rows: object) -> Declared:
    """x with a learned row added to each of its tokens, of which there are `rows`."""
    table = weight("weight", rows, *x.features)
    return x.like(), {
        x: needs(tex=r"\bar x = \bar y", passes=True),
        table: needs(tex=r"\bar W = \sum_b \bar y"),
    }


@op(source="PyTorch derivatives.yaml: select")
def first_token(x: Tensor) -> Declared:
    """The first token of each sequence, as a view: whoever keeps it keeps all of x."""
    y = x.view(x.shape[0], *x.features, leading_axes=1)
    return y, {x: needs(tex=r"\bar x = (\bar y, 0)")}
