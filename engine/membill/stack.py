"""A stack of equal layers under recomputation: what is kept, and the peak while one is rebuilt."""

from __future__ import annotations

from dataclasses import dataclass

import sympy

from membill.formula import Condition, Formula
from membill.layers import Layer
from membill.plans import Plan
from membill.symbols import L
from membill.tensor import count


@dataclass(frozen=True)
class Stack:
    """Bytes of L layers at the end of forward, and on top of them in backward.

    kept: what all layers keep. rebuilt: what the layer that backward is at makes again, alive
    until it is through. Both are on the device at once.
    """

    kept: Formula
    rebuilt: Formula

    @property
    def peak(self) -> Formula:
        """Bytes of activations when backward has rebuilt the last layer."""
        return self.kept + self.rebuilt


def stack(
    layer: Layer, plan: Plan | None = None, *, layers: int | sympy.Expr = L, every: object = 1
) -> Stack:
    """The stack in which every n-th layer is run under the plan and the others keep everything.

    layers, every: an int > 0 or a symbol; `every` must divide `layers`.
    """
    number = count(layers, "layers", "a number of layers")
    nth = count(every, "every", "a number of layers")
    whole = layer.activations(plan, recompute="none")
    recomputed = layer.activations(plan)
    kept = recomputed * (number / nth) + whole * (number - number / nth)
    condition = () if nth == 1 else (Condition(nth, number),)
    return Stack(
        Formula(kept.expr, kept.unit, kept.definitions, (*kept.conditions, *condition)),
        whole + recomputed * sympy.Integer(-1),
    )
