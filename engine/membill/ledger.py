"""The ledger: every storage that a layer keeps, once, with who needs it and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

import sympy

from membill.dtypes import DType
from membill.formula import Definition, Formula
from membill.graph import Graph, Op, live_tensors
from membill.mesh import UNDIVIDED, Mesh, shard
from membill.tensor import Role, Tensor

Region = Callable[[Op], str | None]
"""Which recomputed region an op belongs to: its name, or None if the op's needs are kept."""

REBUILT = r"\text{what is recomputed starts from it}"


@dataclass(frozen=True, slots=True)
class Kept:
    """A storage and the reasons for keeping it, before any number is put on it.

    account: path of the first op, or region, that needs it: where its bytes are billed.
    reasons: (path of who needs it, gradient formula as LaTeX), in the order of the ops.
    """

    tensor: Tensor
    account: str
    reasons: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One storage in the bill.

    path: the op (or recomputed region) that is the first to need it; its bytes are billed there.
    tensor: the tensor's own name: the path of the op that makes it, and what it is to that op.
    bytes: Formula in bytes. needed_by: paths. why: the gradient formulas, as LaTeX.
    rows: of a weight that is a matrix, how many axes are those of its rows; stacked: how many come
    before these, along which there is a matrix each.
    """

    path: str
    tensor: str
    shape: tuple[sympy.Expr, ...]
    dtype: DType
    role: Role
    bytes: Formula
    needed_by: tuple[str, ...]
    why: tuple[str, ...]
    rows: int = 0
    stacked: int = 0

    @property
    def entries(self) -> Formula:
        """How many numbers it holds; of a weight, parameters."""
        own = self.bytes
        return Formula(sympy.Mul(*self.shape), "parameters", own.definitions, own.conditions)

    @property
    def scope(self) -> str:
        """The outermost scope of the account."""
        return self.path.partition(".")[0]


@dataclass(frozen=True)
class Ledger:
    """All storages of one layer under one plan: kept tensors, shared tables, weights."""

    entries: tuple[Row, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        """What one layer keeps for backward."""
        apart = (Role.TABLE, Role.WEIGHT, Role.BUFFER)
        return tuple(row for row in self.entries if row.role not in apart)

    @property
    def tables(self) -> tuple[Row, ...]:
        """What backward needs too but all layers share, so that it counts once for a model."""
        return tuple(row for row in self.entries if row.role is Role.TABLE)

    @property
    def weights(self) -> tuple[Row, ...]:
        """The parameters of the layer."""
        return tuple(row for row in self.entries if row.role is Role.WEIGHT)

    @property
    def buffers(self) -> tuple[Row, ...]:
        """Tensors of the module that take no gradient."""
        return tuple(row for row in self.entries if row.role is Role.BUFFER)

    def total(self) -> Formula:
        """Bytes that one layer keeps for backward."""
        return self._total

    def parameters(self) -> Formula:
        """How many parameters of the layer a device holds."""
        return self._parameters

    @cached_property
    def _total(self) -> Formula:
        return total(row.bytes for row in self.rows)

    @cached_property
    def _parameters(self) -> Formula:
        return total((row.entries for row in self.weights), "parameters")

    def by_scope(self) -> tuple[tuple[str, Formula], ...]:
        """The total split by outermost scope, in order of first use."""
        groups: dict[str, list[Formula]] = {}
        for row in self.rows:
            groups.setdefault(row.scope, []).append(row.bytes)
        return tuple((scope, total(sizes)) for scope, sizes in groups.items())

    def without_statistics(self) -> Ledger:
        """As papers print it: less per-token statistics and the bookkeeping of kernels."""
        small = (Role.STATISTIC, Role.BOOKKEEPING)
        return Ledger(tuple(row for row in self.entries if row.role not in small))


def collect(
    graph: Graph,
    *,
    region: Region = lambda op: None,
    trainable: Callable[[Tensor], bool] = lambda tensor: True,
) -> tuple[Kept, ...]:
    """What must be kept for backward, one item a storage, in the order of first need.

    Outside recomputed regions: each tensor that the gradient of a live target needs. Of a
    region: what enters it from outside. Weights are kept anyway and are left out.
    """
    live = live_tensors(graph, trainable)
    home = {op.path: region(op) for op in graph.ops}
    accounts: dict[Tensor, str] = {}
    reasons: dict[Tensor, dict[tuple[str, str], None]] = {}

    def keep(tensor: Tensor, account: str, reason: tuple[str, str]) -> None:
        if tensor.role not in (Role.WEIGHT, Role.BUFFER):
            accounts.setdefault(tensor.storage, account)
            reasons.setdefault(tensor.storage, {})[reason] = None

    for op in graph.ops:
        inside = home[op.path]
        if inside is None:
            for target, need in op.gradients.items():
                for tensor in need.tensors if target in live else ():
                    keep(tensor, op.path, (op.path, need.tex))
        elif op.output in live:
            for tensor in op.inputs:
                if home.get(tensor.path) != inside:
                    keep(tensor, inside, (inside, REBUILT))
    return tuple(Kept(tensor, accounts[tensor], tuple(reasons[tensor])) for tensor in accounts)


def price(
    kept: Iterable[Kept],
    weights: Iterable[Tensor],
    values: Mapping[sympy.Symbol, sympy.Expr],
    definitions: tuple[Definition, ...],
    mesh: Mesh = UNDIVIDED,
) -> Ledger:
    """Put bytes on one device's part of what is kept.

    `values` are substituted; `definitions` too, and go on record.
    """
    put = tuple(values.items())

    def row(item: Kept) -> Row:
        tensor = item.tensor
        needed_by, why = _each_once(item.reasons)
        shape, size = _sized(tensor.shape, tensor.dtype.bytes, put, definitions, mesh)
        return Row(
            path=item.account,
            tensor=tensor.label,
            shape=shape,
            dtype=tensor.dtype,
            role=tensor.role,
            bytes=size,
            needed_by=needed_by,
            why=why,
            rows=tensor.leading_axes - tensor.stacked if tensor.role is Role.WEIGHT else 0,
            stacked=tensor.stacked,
        )

    own = (Kept(tensor, tensor.path, ()) for tensor in weights)
    return Ledger(tuple(row(item) for item in (*kept, *own)))


@lru_cache(maxsize=4096)
def _each_once(reasons: tuple[tuple[str, str], ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The paths of reasons, and their formulas."""
    paths, formulas = (dict.fromkeys(each[at] for each in reasons) for at in (0, 1))
    return tuple(paths), tuple(formulas)


@lru_cache(maxsize=1 << 14)
def _sized(
    shape: tuple[sympy.Expr, ...],
    width: sympy.Expr,
    values: tuple[Definition, ...],
    definitions: tuple[Definition, ...],
    mesh: Mesh,
) -> tuple[tuple[sympy.Expr, ...], Formula]:
    """One device's part of a shape, and its bytes at an entry's width."""
    put = {**dict(values), **dict(definitions)}
    local = shard(shape, mesh)
    own = tuple(axis.xreplace(put) for axis in local.shape)
    conditions = tuple(condition.xreplace(put) for condition in local.conditions)
    return own, Formula(sympy.Mul(*own, width.xreplace(put)), "bytes", definitions, conditions)


def total(sizes: Iterable[Formula], unit: str = "bytes") -> Formula:
    """The sum of formulas of one unit; like ones are counted first, so that it stays linear."""
    every = tuple(sizes)
    if len(every) == 1 and every[0].unit == unit:
        return every[0]
    counted = Counter((size.expr, size.definitions, size.conditions) for size in every)
    definitions = dict.fromkeys(item for (_, given, _) in counted for item in given)
    conditions = dict.fromkeys(item for (_, _, given) in counted for item in given)
    terms = (expr if number == 1 else number * expr for (expr, _, _), number in counted.items())
    return Formula(sympy.Add(*terms), unit, tuple(definitions), tuple(conditions))
