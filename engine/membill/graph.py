"""What a layer's function leaves behind when it runs on symbolic tensors: a graph of ops.

An op declares, for each thing that can receive a gradient, the tensors that this gradient needs.
Nothing here knows what is saved in the end: `collect` in ledger.py derives it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import sympy

from membill.errors import InputError
from membill.tensor import Tensor, said

NO_FLOPS = sympy.Integer(0)


@dataclass(frozen=True, slots=True)
class Needs:
    """The tensors that a gradient's formula mentions, the formula as LaTeX, and its FLOPs."""

    tensors: tuple[Tensor, ...]
    tex: str
    flops: sympy.Expr = NO_FLOPS


def needs(*tensors: Tensor, tex: str, flops: sympy.Expr = NO_FLOPS) -> Needs:
    r"""State what a gradient needs: `needs(y, tex=r"\bar x = y \odot \bar y")`.

    flops: the floating-point operations of its matrix products; 0 if it has none.
    """
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise InputError(f"needs(...) takes tensors, not {said(tensor)}")
    return Needs(tensors, tex, flops)


Declared = tuple[Tensor, dict[Tensor, Needs]] | tuple[Tensor, dict[Tensor, Needs], sympy.Expr]
"""What an op's function returns: its output, what each gradient needs, and, if the op is a matrix
product, the floating-point operations that it takes."""


@dataclass(frozen=True, slots=True)
class Op:
    """One recorded operation. `gradients` maps each input or weight to what its gradient needs.

    flops: floating-point operations of its matrix products; entry-by-entry work is not counted.
    """

    kind: str
    path: str
    inputs: tuple[Tensor, ...]
    output: Tensor
    gradients: Mapping[Tensor, Needs]
    flops: sympy.Expr = NO_FLOPS


@dataclass(frozen=True)
class Graph:
    """The ops of one traced function in the order they ran, with its weights."""

    inputs: tuple[Tensor, ...]
    output: Tensor
    ops: tuple[Op, ...]
    weights: tuple[Tensor, ...]

    def scopes(self) -> tuple[str, ...]:
        """Every scope path that holds an op, in order of first use."""
        found: dict[str, None] = {}
        for op in self.ops:
            parts = op.path.split(".")[:-1]
            found.update(dict.fromkeys(".".join(parts[:i]) for i in range(1, len(parts) + 1)))
        return tuple(found)


def live_tensors(graph: Graph, trainable: Callable[[Tensor], bool]) -> frozenset[Tensor]:
    """The tensors that a gradient reaches, given which inputs and weights take one.

    An op's output takes one if anything does for which the op declares one.
    """
    live = {source for source in (*graph.inputs, *graph.weights) if trainable(source)}
    for op in graph.ops:
        if any(target in live for target in op.gradients):
            live.add(op.output)
    return frozenset(live)
