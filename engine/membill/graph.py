"""What a layer's function leaves behind when it runs on symbolic tensors: a graph of ops.

An op declares, for each thing that can receive a gradient, the tensors that this gradient needs.
Nothing here knows what is saved in the end: `collect` in ledger.py derives it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import sympy

from membill.errors import InputError
from membill.tensor import Tensor, said

NO_FLOPS = sympy.Integer(0)


@dataclass(frozen=True, slots=True)
class Needs:
    """What `needs` was told of a gradient."""

    tensors: tuple[Tensor, ...]
    tex: str
    flops: sympy.Expr = NO_FLOPS
    passes: bool = False
    joins: bool = False
    scratch: tuple[Tensor, ...] = ()
    released: tuple[Tensor, ...] = ()


def needs(
    *tensors: Tensor,
    tex: str,
    flops: sympy.Expr = NO_FLOPS,
    passes: bool = False,
    joins: bool = False,
    scratch: Iterable[Tensor] = (),
    released: Iterable[Tensor] = (),
) -> Needs:
    r"""State what a gradient needs: `needs(y, tex=r"\bar x = y \odot \bar y")`.

    flops: the floating-point operations of its matrix products; 0 if it has none.

    The others say what storages there are while it is computed, by which only the peak of a step
    is told. Unless told, a gradient is a new storage of its target's shape and dtype.
    passes: it is the gradient of the output, or a view of that. joins: it is that too, until it
    is put into one storage with those of other parts of the target. scratch: tensors of the shapes
    and dtypes of what is there besides at its fullest. released: tensors of those needed that
    are gone by then, or that it is written over.
    """
    others = (*scratch, *released)
    for tensor in (*tensors, *others):
        if not isinstance(tensor, Tensor):
            raise InputError(f"needs(...) takes tensors, not {said(tensor)}")
    return Needs(tensors, tex, flops, passes, joins, tuple(scratch), tuple(released))


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


@dataclass(frozen=True, eq=False)
class Graph:
    """The ops of one traced function in the order they ran, with its weights and buffers.

    held: tensors that whoever runs the step holds until its end, besides the output.
    """

    inputs: tuple[Tensor, ...]
    output: Tensor
    ops: tuple[Op, ...]
    weights: tuple[Tensor, ...]
    buffers: tuple[Tensor, ...] = ()
    held: tuple[Tensor, ...] = ()

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
