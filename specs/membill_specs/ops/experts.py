"""Sending each token to a few of many experts, and running all experts at once."""

from membill.spec import (
    FLOAT32,
    INT32,
    INT64,
    Declared,
    Role,
    Tensor,
    dims,
    needs,
    op,
    product,
    weight,
)


@op(source="PyTorch derivatives.yaml: topk")
def top_k(x: Tensor, count: object) -> Declared:
    """The `count` largest of a token's features, with the places that they had."""
    y = x.like(shape=(*x.leading, count))
    places = y.like("places", dtype=INT64, role=Role.INDEX)
    return y, {x: needs(places, tex=r"\bar x_{i_j} = \bar y_j,\ 0 \text{ elsewhere}")}


@op(source="PyTorch derivatives.yaml: gather")
def biased_top_k(x: Tensor, count: object) -> Declared:
    """The `count` features of a token for which x + bias is largest, without the bias.

    Keeps the places that they had and, for its shape, x. Nothing comes back through the choice
    itself: the bias, in float32 and moved by the load on each feature, takes no gradient.
    """
    weight("bias", *x.features, dtype=FLOAT32)
    y = x.like(shape=(*x.leading, count))
    places = y.like("places", dtype=INT64, role=Role.INDEX)
    return y, {x: needs(x, places, tex=r"\bar x_{i_j} = \bar y_j,\ 0 \text{ elsewhere}")}


@op(source="PyTorch derivatives.yaml: index")
def gather_rows(x: Tensor, *copies: object) -> Declared:
    """Tokens of x in another order, each as often as `copies` says: (b, T, k, d) from (b, T, d).

    Keeps the order, one index a row of the result.
    """
    leading = dims((*x.leading, *copies))
    order = x.like("order", shape=leading, dtype=INT64, role=Role.INDEX)
    y = x.like(shape=(*leading, *x.features), leading_axes=len(leading))
    return y, {x: needs(order, tex=r"\bar x_i = \sum_{j:\, o_j = i} \bar y_j")}


@op(source="PyTorch: histc, cumsum, neither of which has a gradient here")
def group_ends(chosen: Tensor, groups: object) -> Declared:
    """Where each group's rows end, once rows stand in the order of the group chosen for them.

    One int32 number a group.
    """
    return chosen.like(shape=(groups,), dtype=INT32, role=Role.BOOKKEEPING), {}


@op(source="PyTorch derivatives.yaml: _grouped_mm")
def grouped_linear(x: Tensor, ends: Tensor, *out: object) -> Declared:
    """y = x W with a weight for each group of rows, which end at `ends`: one kernel for all."""
    rows = len(x.features)
    w = weight("weight", *ends.shape, *x.features, *out, dtype=x.dtype, inputs=rows, stacked=1)
    y = x.like(shape=(*x.leading, *out))
    flops = 2 * x.entries * product(dims(out))
    return (
        y,
        {
            x: needs(w, ends, tex=r"\bar X_g = \bar Y_g W_g^\top", flops=flops),
            w: needs(x, ends, tex=r"\bar W_g = X_g^\top \bar Y_g", flops=flops),
        },
        flops,
    )
