"""Pipeline stages: how many micro-batches' activations a stage holds at once, and their bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from membill.errors import InputError
from membill.formula import Condition, Formula
from membill.symbols import L, i, m, p, v


@dataclass(frozen=True)
class Schedule:
    """An order of forward and backward passes.

    in_flight: micro-batches whose activations stage i of p holds at its fullest, an expression
    over m (micro-batches of a step), p, i (from 0) and v (model chunks on a stage).
    """

    name: str
    title: str
    in_flight: sympy.Expr
    summary: str
    source: str


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

    before: what precedes the layers on this stage, held for every micro-batch in flight. after:
    what follows them, held for one at a time, since its backward pass comes at once.
    given: values or letters for m, p and v.
    """
    values = {**(given or {}), i: index}
    held = sympy.simplify(schedule.in_flight.subs(values, simultaneous=True))
    count = sympy.sympify(layers).subs(given or {}, simultaneous=True)
    size = layer * (count * held)
    if before is not None:
        size = size + before * held
    if after is not None:
        size = size + after
    degree = sympy.sympify((given or {}).get(p, p))
    whole = () if count.is_Integer else (Condition(degree, L),)
    return Stage(
        sympy.sympify(index),
        count,
        held,
        Formula(size.expr, size.unit, size.definitions, (*size.conditions, *whole)),
    )


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
    for count in layers:
        if type(count) is not int or count <= 0:
            raise InputError(f"stages = {list(layers)}: {count!r} is not an integer > 0")
    given = {m: micro_batches, p: len(layers), v: chunks}
    last = len(layers) - 1
    return tuple(
        stage(
            schedule,
            layer,
            index=number,
            layers=count,
            before=before if number == 0 else None,
            after=after if number == last else None,
            given=given,
        )
        for number, count in enumerate(layers)
    )


def worst(of: Sequence[Stage], **values: Any) -> Stage:
    """The stage that holds most at these values, the first of equals."""
    return max(of, key=lambda item: item.bytes(**values))
