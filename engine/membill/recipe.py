"""Model states: what a training recipe stores for each parameter, and who holds which part.

A recipe lists states (weights, gradients, master copy, moments), each with a dtype. Partitioning
divides some of them among the data-parallel devices. Both are knowledge and come from specs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import sympy

from membill.algebra import ceiling
from membill.errors import InputError
from membill.formula import Condition, Formula
from membill.ledger import total
from membill.state import State, Weight
from membill.symbols import N, N_d, beta
from membill.tensor import count

WEIGHTS, GRADIENTS = "weights", "gradients"

Counted = tuple[Weight, sympy.Expr]
"""A weight with how often it comes."""


@dataclass(frozen=True)
class Recipe:
    """What is kept of each parameter during training, besides activations.

    states: of weights that take a gradient. frozen: of those that take none; the states of kind
    "weights" unless told. use: when to use it, in words. usual: whether a bill is drawn up with it
    unless told. step: what the update makes and drops, where it takes all weights at once.
    """

    name: str
    title: str
    states: tuple[State, ...]
    summary: str
    source: str
    frozen: tuple[State, ...] = ()
    step: tuple[State, ...] = ()
    use: str = ""
    usual: bool = False

    def kept(self, weight: Weight) -> tuple[State, ...]:
        """The states that are kept of a weight."""
        if weight.trainable:
            return self.states
        return self.frozen or tuple(state for state in self.states if state.kind == WEIGHTS)

    @property
    def shaped(self) -> tuple[str, ...]:
        """The names of states that depend on the shapes of trained weights."""
        return tuple(state.name for state in self.states if state.of is not None)

    @property
    def every(self) -> tuple[State, ...]:
        """All states, of trained weights first."""
        return tuple(dict.fromkeys((*self.states, *self.frozen)))


@dataclass(frozen=True)
class Partition:
    """Which kinds of states are divided among data-parallel devices, by stage."""

    name: str
    stages: Mapping[int, frozenset[str]]
    summary: str
    source: str

    @property
    def title(self) -> str:
        """What it is called, for people: its summary begins with that."""
        return self.summary.partition(":")[0]


@dataclass(frozen=True)
class StateRow:
    """One state in the bill: bytes that one device holds of it."""

    state: State
    bytes: Formula
    divided: bool


def model_states(
    recipe: Recipe,
    parameters: int | sympy.Expr = N,
    *,
    divided: frozenset[str] = frozenset(),
    devices: int | sympy.Expr = N_d,
    dtype_bytes: int | sympy.Expr = 2,
) -> tuple[StateRow, ...]:
    """What one device holds of each state of a recipe, for so many trained parameters.

    parameters: how many, as a number or an expression. divided: the kinds that `devices` divide.
    Among a number of devices the shares are padded to equal whole ones; among a symbol's, the
    formula holds where the symbol divides the parameters. Raises InputError for a count that is
    not one, and for a recipe that depends on the shapes of the weights.
    """
    if recipe.shaped:
        raise InputError(
            f"recipe {recipe.name!r} keeps {', '.join(recipe.shaped)} by the shapes of weights, "
            "not by their number: ask for the states of a model"
        )
    whole = Weight("", sympy.Integer(1), count(parameters, "parameters", "how many"))
    one = sympy.Integer(1)
    return states_of(
        recipe, [(whole, one)], divided=divided, devices=devices, dtype_bytes=dtype_bytes
    )


def states_of(
    recipe: Recipe,
    weights: Iterable[Counted],
    *,
    divided: frozenset[str] = frozenset(),
    devices: int | sympy.Expr = N_d,
    dtype_bytes: int | sympy.Expr = 2,
    sizes: Mapping[sympy.Symbol, int] | None = None,
) -> tuple[StateRow, ...]:
    """What one device holds of each state of a recipe, for weights with how often each comes.

    Arguments and errors as in `model_states`. sizes: numbers for symbols, by which it is told
    which weights are small; without them none is.
    """
    among = count(devices, "devices", "how many")
    width = {beta: count(dtype_bytes, "dtype_bytes", "the bytes of an entry")}
    groups = [
        (recipe.kept(held[0][0]), held, [(weight.entries, times) for weight, times in held])
        for held in _by_training(weights)
    ]

    def row(state: State) -> StateRow:
        numbers = [
            each
            for kept, held, plain in groups
            if state in kept
            for each in (plain if state.of is None else [(state.of(w), n) for w, n in held])
        ]
        share = among if state.kind in divided else sympy.Integer(1)
        size, conditions = _size(state, numbers, share, sizes)
        return StateRow(state, Formula(size.xreplace(width), "bytes", (), conditions), share != 1)

    return tuple(row(each) for each in recipe.every if any(each in kept for kept, _, _ in groups))


def _by_training(weights: Iterable[Counted]) -> Iterable[list[Counted]]:
    """The weights that take a gradient, and those that take none, as far as there are any."""
    found: dict[bool, list[Counted]] = {}
    for weight, times in weights:
        found.setdefault(weight.trainable, []).append((weight, times))
    return found.values()


def _size(
    state: State,
    held: Iterable[tuple[sympy.Expr, sympy.Expr]],
    among: sympy.Expr,
    sizes: Mapping[sympy.Symbol, int] | None,
) -> tuple[sympy.Expr, tuple[Condition, ...]]:
    """Bytes of a state for weights of so many numbers each, on one of `among` devices.

    Devices divide all numbers as if they were one row; a quantised state that is not divided has
    blocks of its own for each weight.
    """
    every = tuple(held)
    small = tuple(each for each in every if _is_small(state, each[0], sizes))
    large = tuple(each for each in every if each not in small) if small else every
    few, whole = _sum(small), _sum(large)
    width = state.small.dtype.bytes if state.small else sympy.Integer(0)
    if among == 1:
        if not state.constants and state.dtype.bytes.is_integer:
            return state.bytes(whole) + few * width, ()
        own = sympy.Add(*(state.bytes(number) * times for number, times in large))
        return own + few * width, ()
    conditions = (
        () if among.is_Integer else (Condition(among, each) for each in (few, whole) if each)
    )
    return state.bytes(_share(whole, among)) + _share(few, among) * width, tuple(conditions)


@lru_cache(maxsize=4096)
def _sum(held: tuple[tuple[sympy.Expr, sympy.Expr], ...]) -> sympy.Expr:
    return sympy.Add(*(number * times for number, times in held))


@lru_cache(maxsize=4096)
def _share(whole: sympy.Expr, among: sympy.Expr) -> sympy.Expr:
    return ceiling(whole / among) if among.is_Integer else whole / among


def _is_small(state: State, numbers: sympy.Expr, sizes: Mapping[sympy.Symbol, int] | None) -> bool:
    if state.small is None or sizes is None:
        return False
    at = numbers.xreplace({each: sympy.Integer(size) for each, size in sizes.items()})
    return bool(at.is_Integer and at < state.small.entries)


def under(own: Formula, parameters: Formula) -> Formula:
    """A formula of states, which holds where the number of parameters does."""
    conditions = (*parameters.conditions, *own.conditions)
    return replace(own, definitions=parameters.definitions, conditions=conditions)


def divided_at(partition: Partition, stage: object) -> frozenset[str]:
    """The kinds of states that a stage of a partitioning divides; InputError for no such stage."""
    if not isinstance(stage, int) or isinstance(stage, bool) or stage not in partition.stages:
        allowed = ", ".join(str(known) for known in sorted(partition.stages))
        raise InputError(f"{partition.name} = {stage!r}: allowed are {allowed}")
    return partition.stages[stage]


def states_total(rows: tuple[StateRow, ...]) -> Formula:
    """The sum over all states, in bytes."""
    return total(row.bytes for row in rows)
