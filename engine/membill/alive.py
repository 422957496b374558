"""Which storages are alive while a part of a model runs forward, or is run again in backward."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import sympy

from membill.dtypes import DType
from membill.graph import Graph, Op
from membill.tensor import Role, Tensor


@dataclass(frozen=True, eq=False)
class Key:
    """A shape and a dtype; only one of each is made, so that it is found by its identity."""

    shape: tuple[sympy.Expr, ...]
    dtype: DType


Storages = Counter[Key]
"""How many storages there are of each shape and dtype."""

OF_MODULES = (Role.WEIGHT, Role.BUFFER)


_key = cache(Key)


@lru_cache(maxsize=1 << 14)
def key(tensor: Tensor) -> Key:
    """The shape and the dtype of a tensor."""
    return _key(tensor.shape, tensor.dtype)


def storages(tensors: Iterable[Tensor]) -> Storages:
    """The storages of tensors that have one each."""
    return Counter(map(key, tensors))


@lru_cache(maxsize=1 << 12)
def storages_of(tensors: frozenset[Tensor]) -> Storages:
    """The same; most moments keep what another one keeps."""
    return storages(tensors)


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
        yield op, storages_of(frozenset(kept)), storages(passing)
        passing -= {tensor for tensor in passing if last.get(tensor) == at}


def readable(graph: Graph, tensors: Collection[Tensor]) -> frozenset[Tensor]:
    """The storages of tensors that belong neither to a module nor to whoever runs the step."""
    held = {tensor.storage for tensor in graph.held}
    found = {tensor.storage for tensor in tensors if tensor.role not in OF_MODULES}
    return frozenset(found - held)
