"""Model states: what a training recipe stores for each parameter, and who holds which part.

A recipe lists states (weights, gradients, master copy, moments), each with a dtype. Partitioning
divides some of them among the data-parallel devices. Both are knowledge and come from specs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import sympy

from membill.dtypes import DType
from membill.errors import InputError
from membill.formula import Condition, Formula
from membill.ledger import total
from membill.symbols import N, N_d, beta
from membill.tensor import count


@dataclass(frozen=True)
class Constants:
    """The constants of a quantised state: one of this dtype for each block of parameters."""

    block: int
    dtype: DType


@dataclass(frozen=True)
class State:
    """One number kept for every parameter.

    kind: what it is to a partitioning ("weights", "gradients", "master", "moments").
    constants: what is kept besides for each block of parameters, if the state is quantised.
    """

    name: str
    kind: str
    dtype: DType
    constants: tuple[Constants, ...] = ()

    def bytes(self, parameters: sympy.Expr) -> sympy.Expr:
        """Bytes for so many parameters, block constants included; a number fills whole bytes."""
        own = parameters * self.dtype.bytes
        blocks = (
            sympy.ceiling(parameters / each.block) * each.dtype.bytes for each in self.constants
        )
        return sympy.Add(sympy.ceiling(own) if own.is_Rational else own, *blocks)

    @property
    def bits(self) -> sympy.Rational:
        """Bits a parameter, constants included, at two bytes for the compute dtype."""
        own = self.dtype.bytes.subs(beta, 2)
        shared = (each.dtype.bytes / each.block for each in self.constants)
        return 8 * sympy.Add(own, *shared)


@dataclass(frozen=True)
class Recipe:
    """What is kept of each parameter during training, besides activations."""

    name: str
    title: str
    states: tuple[State, ...]
    summary: str
    source: str


@dataclass(frozen=True)
class Partition:
    """Which kinds of states are divided among data-parallel devices, by stage."""

    name: str
    stages: Mapping[int, frozenset[str]]
    summary: str
    source: str


@dataclass(frozen=True)
class StateRow:
    """One state in the bill: bytes that one device holds of it."""

    state: State
    bytes: Formula
    divided: bool

    def under(self, parameters: Formula) -> StateRow:
        """The row for a number of parameters that holds under conditions of its own."""
        own = self.bytes
        return replace(
            self,
            bytes=replace(
                own,
                definitions=parameters.definitions,
                conditions=(*parameters.conditions, *own.conditions),
            ),
        )


def model_states(
    recipe: Recipe,
    parameters: int | sympy.Expr = N,
    *,
    divided: frozenset[str] = frozenset(),
    devices: int | sympy.Expr = N_d,
    dtype_bytes: int | sympy.Expr = 2,
) -> tuple[StateRow, ...]:
    """What one device holds of each state of a recipe.

    parameters: how many, as a number or an expression. divided: the kinds that `devices` divide.
    Among a number of devices the shares are padded to equal whole ones; among a symbol's, the
    formula holds where the symbol divides the parameters. Raises InputError for a count that is
    not one.
    """
    whole = count(parameters, "parameters", "how many")
    among = count(devices, "devices", "how many")
    width = count(dtype_bytes, "dtype_bytes", "the bytes of an entry")
    part = sympy.ceiling(whole / among) if among.is_Integer else whole / among
    condition = () if among.is_Integer else (Condition(among, whole),)

    def row(state: State) -> StateRow:
        share = state.kind in divided
        held = state.bytes(part if share else whole).subs(beta, width)
        return StateRow(state, Formula(held, "bytes", (), condition if share else ()), share)

    return tuple(row(state) for state in recipe.states)


def divided_at(partition: Partition, stage: object) -> frozenset[str]:
    """The kinds of states that a stage of a partitioning divides; InputError for no such stage."""
    if not isinstance(stage, int) or isinstance(stage, bool) or stage not in partition.stages:
        allowed = ", ".join(str(known) for known in sorted(partition.stages))
        raise InputError(f"{partition.name} = {stage!r}: allowed are {allowed}")
    return partition.stages[stage]


def states_total(rows: tuple[StateRow, ...]) -> Formula:
    """The sum over all states, in bytes."""
    return total(row.bytes for row in rows)
