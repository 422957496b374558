"""Which layers of a model one device runs, and how many micro-batches of each it holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import sympy

from membill import printer
from membill.errors import InputError
from membill.formula import Condition
from membill.models import Model
from membill.parts import Part
from membill.pipeline import held_on
from membill.plans import Plan
from membill.symbols import p, v
from membill.unrolled import order as layer_order

ONE, NONE = sympy.Integer(1), sympy.Integer(0)


@dataclass(frozen=True)
class Share:
    """A part of a model on one device.

    number: how many of it. held: micro-batches of each whose activations are kept at the fullest.
    """

    part: Part
    number: sympy.Expr
    held: sympy.Expr


@dataclass(frozen=True)
class Shares:
    """All parts on one device, and what must divide what for that."""

    items: tuple[Share, ...]
    conditions: tuple[Condition, ...] = ()


def shares(
    model: Model, plan: Plan, stage: int | sympy.Expr = 0, sizes: Mapping[str, int] | None = None
) -> Shares:
    """What one stage of the plan's pipeline runs; without a schedule, all of the model.

    stage: counted from 0. sizes: the model's dimensions, needed where layers of several kinds are
    divided among stages. Raises InputError for a stage that there is not.
    """
    if plan.schedule is None:
        if stage != 0:
            raise InputError(f"stage = {stage}: without a schedule there is one stage, 0")
        return Shares(tuple(Share(part, part.times, ONE) for part in model.parts))
    layers = model.layers / p
    held = held_on(plan.schedule, index=stage, layers=layers, given=plan.letters)
    last = sympy.sympify(stage) - plan.letters.get(p, p) + 1
    items = [
        Share(part, number, held.layers) for part, number in _layers(model, plan, stage, sizes)
    ]
    if stage == 0:
        items.insert(0, Share(model.start, ONE, held.start))
    if last == 0:
        items.append(Share(_untied(model.end) if stage != 0 else model.end, ONE, held.end))
    put = dict(plan.letters)
    conditions = tuple(condition.xreplace(put) for condition in held.conditions)
    return Shares(tuple(items), conditions)


def _untied(part: Part) -> Part:
    """The head on a stage without the embedding: it holds a copy of the tied weight."""
    return replace(part, dropped=frozenset())


def _layers(
    model: Model, plan: Plan, stage: int | sympy.Expr, sizes: Mapping[str, int] | None
) -> tuple[tuple[Part, sympy.Expr], ...]:
    """The kinds of layers on a stage with how many of each it has."""
    kinds = [part for group in model.groups for part in group]
    stages = plan.letters.get(p, p)
    if len(kinds) == 1:
        return ((kinds[0], kinds[0].times / stages),)
    order = layer_order(model, sizes or {})
    chunks = plan.letters.get(v, ONE)
    if not (stages.is_Integer and chunks.is_Integer and sympy.sympify(stage).is_Integer):
        raise InputError(
            f"model {model.name!r} has layers of several kinds: give pp, stage and chunks as "
            "numbers"
        )
    length = len(order) // int(stages * chunks)
    if length * stages * chunks != len(order):
        raise InputError(
            f"pp = {stages}: {printer.text(stages * chunks)} does not divide the {len(order)} "
            f"layers of {model.name!r}"
        )
    mine = Counter(
        part for at, part in enumerate(order) if at // length % int(stages) == int(stage)
    )
    return tuple((part, sympy.Integer(number)) for part, number in mine.items())
