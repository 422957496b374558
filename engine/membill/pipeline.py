"""Pipeline stages: how many micro-batches' activations a stage holds at once, and their bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy

from membill import printer
from membill.errors import InputError
from membill.formula import Condition, Formula
from membill.symbols import L, i, info, m, p, v
from membill.tensor import count, exact

ONCE = sympy.Integer(1)


@dataclass(frozen=True)
class Schedule:
    """An order of forward and backward passes.

    in_flight: micro-batches whose activations stage i of p holds at its fullest, an expression
    over m (micro-batches of a step), p, i (from 0) and v (model chunks on a stage). A schedule
    that mentions v is one for two chunks and more.
    at_start: the same for what comes before the first layer, if not as for layers. at_end: for
    what comes after the last one, whose backward pass follows at once unless told.
    conditions: what must divide what.
    """

    name: str
    title: str
    in_flight: sympy.Expr
    summary: str
    source: str
    at_start: sympy.Expr | None = None
    at_end: sympy.Expr = ONCE
    conditions: tuple[Condition, ...] = ()

    @property
    def chunked(self) -> bool:
        """Whether a stage holds several chunks of layers."""
        return bool(self.in_flight.has(v))


@dataclass(frozen=True)
class Held:
    """Micro-batches whose activations a stage holds at its fullest, and what must divide what.

    start: of what comes before the first layer. layers: of its layers. end: of what comes after
    the last layer.
    """

    start: sympy.Expr
    layers: sympy.Expr
    end: sympy.Expr
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Stage:
    """One stage of a pipeline: its index from 0, its layers, what it holds."""

    index: sympy.Expr
    layers: sympy.Expr
    in_flight: sympy.Expr
    bytes: Formula


def stage(
    schedule: Schedule,
    layer: Formula,
    *,
    index: int | sympy.Expr = i,
    layers: int | sympy.Expr = L / p,
    before: Formula | None = None,
    after: Formula | None = None,
    given: Mapping[sympy.Symbol, int | sympy.Expr] | None = None,
) -> Stage:
    """One stage that holds `layers` layers of `layer` bytes a micro-batch each.

    before: what precedes the layers, on the first stage. after: what follows them, on the last.
    given: values or letters for m, p and v. Raises InputError for one that is not a count, for a
    stage that the pipeline does not have, and for layers or micro-batches that do not divide.
    """
    put = _values(schedule, index, given or {})
    held = held_on(schedule, index=index, layers=layers, given=given)
    number = count(layers, "layers", "how many").subs(put, simultaneous=True)
    size = layer * (number * held.layers)
    if before is not None:
        size = size + before * held.start
    if after is not None:
        size = size + after * held.end
    conditions = (*size.conditions, *held.conditions)
    final = replace(size, conditions=conditions).subs(given or {})
    return Stage(put[i], number, held.layers, final)


def held_on(
    schedule: Schedule,
    *,
    index: int | sympy.Expr = i,
    layers: int | sympy.Expr = L / p,
    given: Mapping[sympy.Symbol, int | sympy.Expr] | None = None,
) -> Held:
    """What a stage holds at its fullest; arguments and errors as in `stage`."""
    put = _values(schedule, index, given or {})
    start = schedule.in_flight if schedule.at_start is None else schedule.at_start
    return Held(
        start.xreplace(put),
        _expanded(schedule.in_flight.xreplace(put)),
        schedule.at_end.xreplace(put),
        (*_whole(schedule, layers), *schedule.conditions),
    )


def _expanded(expr: sympy.Expr) -> sympy.Expr:
    """The expression with like terms added up, also within `Min` and `Max`."""
    inner = expr.replace(
        lambda part: isinstance(part, (sympy.Min, sympy.Max)),
        lambda part: part.func(*map(sympy.expand, part.args)),
    )
    return sympy.factor_terms(inner)


def _values(
    schedule: Schedule, index: int | sympy.Expr, given: Mapping[sympy.Symbol, int | sympy.Expr]
) -> dict[sympy.Symbol, sympy.Expr]:
    """What is put in for letters, checked against the schedule."""
    put = {
        letter: count(value, str(letter), info(letter).meaning) for letter, value in given.items()
    }
    stage, last = exact(index, "stage"), put.get(p, p) - 1
    if stage.is_integer is False or stage.is_negative or (last - stage).is_negative:
        raise InputError(f"stage = {stage}: stages are counted from 0 to {printer.text(last)}")
    if schedule.chunked and put.get(v) == 1:
        raise InputError(f"v = 1: schedule {schedule.name!r} has two model chunks or more")
    if not schedule.chunked and put.get(v, 1) != 1:
        raise InputError(f"v = {put[v]}: schedule {schedule.name!r} has no model chunks")
    return {**put, i: stage}


def _whole(schedule: Schedule, layers: int | sympy.Expr) -> tuple[Condition, ...]:
    """What must divide what for stages and chunks to be of whole layers."""
    above, below = sympy.fraction(sympy.sympify(layers))
    parts = below * v if schedule.chunked else below
    return () if parts == 1 else (Condition(parts, above),)


def stages(
    schedule: Schedule,
    layer: Formula,
    layers: Sequence[int],
    *,
    micro_batches: int,
    chunks: int = 1,
    before: Formula | None = None,
    after: Formula | None = None,
) -> tuple[Stage, ...]:
    """Every stage of a pipeline with so many layers on each, even or uneven: [1, 2, 2, 3].

    before: what the first stage keeps besides its layers. after: what the last one does.
    Raises InputError unless each count is an integer > 0.
    """
    if not layers:
        raise InputError("stages = []: give the number of layers on each stage")
    for number in layers:
        if type(number) is not int or number <= 0:
            raise InputError(f"stages = {list(layers)}: {number!r} is not an integer > 0")
    given = {m: micro_batches, p: len(layers), v: chunks}
    last = len(layers) - 1
    return tuple(
        stage(
            schedule,
            layer,
            index=index,
            layers=number,
            before=before if index == 0 else None,
            after=after if index == last else None,
            given=given,
        )
        for index, number in enumerate(layers)
    )


def worst(of: Sequence[Stage], **values: Any) -> Stage:
    """The stage that holds most at these values, the first of equals."""
    return max(of, key=lambda item: item.bytes(**values))
