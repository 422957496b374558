"""Dropout."""

from membill.spec import BOOL, Declared, Role, Tensor, needs, op


@op(source="PyTorch derivatives.yaml: native_dropout")
def dropout(x: Tensor) -> Declared:
    """Zero entries with probability p > 0; the fused kernel keeps a 1-byte mask."""
    mask = x.like("mask", dtype=BOOL, role=Role.MASK)
    return x.like(), {x: needs(mask, tex=r"\bar x = \frac{m \odot \bar y}{1 - p}")}
