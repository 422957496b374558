"""Which storages are alive while a part of a model runs forward, or is run again in backward."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

import sympy

from membill.dtypes import DType
from membill.graph import Graph, Op
from membill.tensor import Role, Tensor

Key = tuple[tuple[sympy.Expr, ...], DType]
"""A shape and a dtype."""

Storages = Counter[Key]
"""How many storages there are of each shape and dtype."""

OF_MODULES = (Role.WEIGHT, Role.BUFFER)


def storages(tensors: Iterable[Tensor]) -> Storages:
    """The storages of tensors that have one each."""
    return Counter((tensor.shape, tensor.dtype) for tensor in tensors)


def running(
    ops: Sequence[Op],
    stays: Collection[Tensor],
    given: Collection[Tensor] = (),
    apart: Collection[Tensor] = (),
) -> Iterator[tuple[Op, Storages, Storages]]:
    """What is alive as each op of a pass ends: of what stays, and of what is soon dropped.

    stays: storages that are not dropped, from the op on that makes or first reads them. given:
    storages that are there before. apart: those that are not counted. A storage is taken to be
    dropped when the last op that reads it has run; one that nothing reads, with the pass.
    """
    last = {tensor.storage: at for at, op in enumerate(ops) for tensor in op.inputs}
    made = {op.path for op in ops}
    first = {t.storage: op for op in reversed(ops) for t in op.inputs if t.path not in made}
    kept: set[Tensor] = set(stays).intersection(given)
    passing = set(given).difference(stays)
    for at, op in enumerate(ops):
        kept.update(each for each in stays if each.path == op.path or first.get(each) is op)
        passing |= {op.output.storage}.difference(stays, apart)
        yield op, storages(kept), storages(passing)
        passing -= {tensor for tensor in passing if last.get(tensor) == at}


def readable(graph: Graph, tensors: Collection[Tensor]) -> frozenset[Tensor]:
    """The storages of tensors that belong neither to a module nor to whoever runs the step."""
    held = {tensor.storage for tensor in graph.held}
    found = {tensor.storage for tensor in tensors if tensor.role not in OF_MODULES}
    return frozenset(found - held)
