"""Sharding: which axes of a tensor a mesh of devices divides.

A mesh has named axes with a degree each, a number or a symbol. Rules, in order, say which symbol
of a tensor's shape an axis divides: the first rule that fits wins, and an axis divides a tensor
at most once. Which axes and rules there are is knowledge, and comes from spec packages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import sympy

from membill.errors import InputError, unknown
from membill.formula import Condition
from membill.tensor import count


@dataclass(frozen=True)
class Rule:
    """Axis `axis` of the mesh divides the axes of a tensor that hold `symbol`.

    switch: the rule holds only where this switch of the plan is on; always if empty.
    replicate: what cannot be divided any further is replicated, once a device holds one.
    beside: the rule holds only for tensors with an axis of this symbol too; for all if None.
    title: what the switch is called, for people.
    """

    symbol: sympy.Symbol
    axis: str
    switch: str = ""
    replicate: bool = False
    beside: sympy.Symbol | None = None
    title: str = ""

    def holds(self, shape: tuple[sympy.Expr, ...]) -> bool:
        """Whether the rule may divide an axis of a tensor of this shape."""
        return self.beside is None or any(self.beside in axis.free_symbols for axis in shape)


@dataclass(frozen=True)
class Axis:
    """A kind of parallelism: its name in a plan, the letter of its degree, what it does.

    data: whether its devices have sequences of their own, as data-parallel ones do.
    """

    name: str
    symbol: sympy.Symbol
    summary: str
    source: str = ""
    data: bool = False

    @property
    def title(self) -> str:
        """What it is called, for people: its summary begins with that."""
        return self.summary.partition(":")[0]


@dataclass(frozen=True)
class Mesh:
    """The degrees of a plan by axis name, with the rules that hold in it, in order.

    given: the degrees and switches that it was made from. open: whether a degree that is a symbol
    may exceed what it divides, as a number may, where a rule replicates.
    """

    degrees: Mapping[str, sympy.Expr] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    given: Mapping[str, object] = field(default_factory=dict)
    open: bool = False

    @cached_property
    def _hash(self) -> int:
        return hash((*self.given.items(), *self.degrees.values(), self.open))

    def __hash__(self) -> int:
        return self._hash


UNDIVIDED = Mesh()


@dataclass(frozen=True)
class Sharded:
    """One device's part of a shape, and what must divide what for the parts to be equal."""

    shape: tuple[sympy.Expr, ...]
    conditions: tuple[Condition, ...] = ()


def shard(shape: tuple[sympy.Expr, ...], mesh: Mesh) -> Sharded:
    """One device's part of a tensor of this shape.

    Of an axis that is a sum, such as h + 2·n_kv fused projections, each term is divided by itself.
    """
    local, among = list(shape), [sympy.Integer(1)] * len(shape)
    conditions: list[Condition] = []
    for axis, degree in mesh.degrees.items():
        rules = [rule for rule in mesh.rules if rule.axis == axis and rule.holds(shape)]
        index = _first(shape, rules)
        if index is None:
            continue
        among[index] *= degree
        for rule in rules:
            if rule.symbol in shape[index].free_symbols:
                spread = rule.replicate and (mesh.open or bool(degree.is_Integer))
                part = rule.symbol / degree
                local[index] = local[index].xreplace(
                    {rule.symbol: sympy.ceiling(part) if spread else part}
                )
                conditions.append(Condition(among[index], rule.symbol, spread))
    return Sharded(tuple(local), tuple(conditions))


def _first(shape: tuple[sympy.Expr, ...], rules: list[Rule]) -> int | None:
    """The axis of the shape that the first of the rules that fits divides."""
    for rule in rules:
        for index, whole in enumerate(shape):
            if rule.symbol in whole.free_symbols:
                return index
    return None


def replication(shape: tuple[sympy.Expr, ...], mesh: Mesh) -> sympy.Expr:
    """How many devices of the mesh hold the same part: ranks times the part over the whole."""
    ranks = sympy.Mul(*mesh.degrees.values())
    return sympy.cancel(ranks * sympy.Mul(*shard(shape, mesh).shape) / sympy.Mul(*shape))


def mesh_of(axes: Mapping[str, Axis], rules: tuple[Rule, ...], given: Mapping[str, object]) -> Mesh:
    """The mesh for degrees and switches by name; InputError for a name that no rule knows."""
    switches = {rule.switch for rule in rules if rule.switch}
    for name, value in given.items():
        if name not in axes and name not in switches:
            raise unknown("mesh axis", name, [*axes, *switches])
        if name in switches and not isinstance(value, bool):
            raise InputError(f"{name} = {value!r}: a switch is True or False")
    degrees = {name: count(given[name], name, "a degree") for name in axes if name in given}
    live = tuple(rule for rule in rules if not rule.switch or given.get(rule.switch) is True)
    divided = {name: degree for name, degree in degrees.items() if degree != 1}
    return Mesh(divided, live, dict(given))
