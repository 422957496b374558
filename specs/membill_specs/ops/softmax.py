"""Softmax."""

from membill.spec import Declared, Tensor, needs, op


@op(source="PyTorch derivatives.yaml: _softmax")
def softmax(x: Tensor) -> Declared:
    """Softmax over the last axis. The gradient is a formula in the output; the input can go."""
    y = x.like()
    return y, {x: needs(y, tex=r"\bar x = y \odot \left(\bar y - \sum \bar y \odot y\right)")}
