"""States that recipes share, and which numbers of a weight they keep."""

import sympy

from membill.spec import COMPUTE, FLOAT32, State, Weight

WEIGHTS, GRADIENTS = State("weights", "weights", COMPUTE), State("gradients", "gradients", COMPUTE)
MASTER = State("master copy", "master", FLOAT32)
FIRST, SECOND = (State(f"{name} moment", "moments", FLOAT32) for name in ("first", "second"))
MOMENTUM = State("momentum", "moments", FLOAT32)

ROOTS = State("roots of second moments", "moments", FLOAT32)
"""What torch.optim's Adam makes of all tensors at once in an update, unless it runs fused."""

MIXED = (WEIGHTS, GRADIENTS, MASTER)
"""Mixed precision, whatever is kept besides."""


def in_layers(weight: Weight) -> sympy.Expr:
    """One number for each parameter of the matrices of layers, none for others."""
    return weight.entries if weight.matrix and weight.hidden else sympy.Integer(0)


def elsewhere(weight: Weight) -> sympy.Expr:
    """One number for each parameter of all other weights."""
    return weight.entries - in_layers(weight)
