"""From indices to features."""

from membill.spec import Declared, Role, Tensor, needs, op, weight


@op(source="PyTorch derivatives.yaml: embedding")
def embedding(ids: Tensor, entries: object, width: object) -> Declared:
    """Row i of a table of `entries` rows for each index i: (b, T, width) from (b, T)."""
    table = weight("weight", entries, width, inputs=1)
    y = ids.like(shape=(*ids.shape, width), dtype=table.dtype, role=Role.ACTIVATION)
    return y, {table: needs(ids, tex=r"\bar W_i = \sum_{\text{tokens } i} \bar y")}
