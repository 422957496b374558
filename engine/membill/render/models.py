"""What the page of a model states: parameters by part, bills of plans, memory against length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from membill import units
from membill.architecture import layers_of
from membill.bill import BUFFERS, TABLES, Bill
from membill.errors import InputError
from membill.formula import Formula
from membill.kept import states_of_model
from membill.models import Model
from membill.parts import ACTIVATIONS, LAYERS, Part
from membill.plans import plan
from membill.recipe import Recipe, states_total
from membill.recompute import Policy, applicable
from membill.render import crossings
from membill.render.charts import Bar, Curve, Stack
from membill.render.colours import REST
from membill.render.facts import CURVE, LENGTHS
from membill.shapes import Shape
from membill.symbols import P

STEPS = 8
"""Points of a curve up to the positions that a model has."""


@dataclass(frozen=True)
class Held:
    """The parameters of one part of a model: of one of it, of all, and how many these are."""

    part: Part
    one: Formula
    all: Formula
    number: int


def parameters(model: Model) -> tuple[Held, ...]:
    """The parts that have parameters; equal layers, wherever they stand, are one row."""
    found: dict[object, Held] = {}
    for part in model.parts:
        one = part.ledger(plan()).parameters()
        if one.expr == 0:
            continue
        key = (part.where, part.name, one.expr)
        times = part.times + (found[key].part.times if key in found else 0)
        every = one * times
        merged = Part(part.where, part.layer, times, part.cache, part.dropped, part.category)
        found[key] = Held(merged, one, every, int(every(**model.values())))
    return tuple(found.values())


def length(shape: Shape) -> int:
    """The tokens of a sequence on the page of a model: no more than it has positions for."""
    return min(LENGTHS[1], shape.get(P.name, LENGTHS[1]))


@dataclass(frozen=True)
class Planned:
    """A plan on the page of a model: its name, what is asked for, and its bill.

    bill: None where the plan cannot be, and then `why` says so.
    """

    name: str
    settings: Mapping[str, Any]
    bill: Bill | None
    why: str = ""

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """Bytes of each category; tables and buffers are one."""
        found: dict[str, int] = {}
        if self.bill is None:
            return found
        for name, size in self.bill.categories.items():
            group = REST if name in (TABLES, BUFFERS) else name
            found[group] = found.get(group, 0) + self.bill.size(size)
        return found

    @property
    def kinds(self) -> tuple[int, int, int]:
        """Bytes of states, of activations, and of all else."""
        if self.bill is None:
            return (0, 0, 0)
        names = {state.name for state in self.bill.recipe.every}
        states = sum(size for name, size in self.sizes.items() if name in names)
        kept = self.sizes.get(ACTIVATIONS, 0)
        return states, kept, sum(self.sizes.values()) - states - kept


def planned(
    model: Model,
    name: str,
    settings: Mapping[str, Any],
    where: Mapping[str, Any],
    adapt: tuple[str, Sequence[str]] | None = None,
) -> Planned:
    """The bill of a model under a plan at numbers for letters.

    adapt: the name of an adapter, and the places in the layers that it is put in.
    """
    try:
        chosen = model if adapt is None else model.adapt(*adapt)
        made = chosen.bill(**where, **settings)
        made.size(made.total)
    except InputError as error:
        return Planned(name, settings, None, str(error))
    return Planned(name, settings, made)


def stacks(every: Iterable[Planned]) -> tuple[Stack, ...]:
    """The bills as bars of their categories."""
    return tuple(
        Stack(
            each.name,
            [
                Bar(name, name, float(size), f"{name} {units.gb(size)}")
                for name, size in each.sizes.items()
            ],
            units.gb(each.bill.bytes),
        )
        for each in every
        if each.bill is not None
    )


def categories(every: Iterable[Planned]) -> tuple[str, ...]:
    """The names of all categories, in the order of the bills."""
    return tuple(dict.fromkeys(name for each in every for name in each.sizes))


def against_length(
    model: Model, shape: Shape, policies: Iterable[Policy], recipe: Recipe
) -> tuple[Curve, ...]:
    """What one sequence keeps for backward against its tokens; model states beside it.

    One line for all policies with the same formula.
    """
    layers = [part.layer.graph() for part in _layers(model)]
    fitting = [p for p in policies if any(applicable([p], graph) for graph in layers)]
    kept = {policy.name: model.activations(recompute=policy) for policy in fitting}
    named: dict[Formula, list[str]] = {}
    for name, size in kept.items():
        named.setdefault(size, []).append(name)
    formulas = {", ".join(names): size for size, names in named.items()}
    formulas["model states"] = states_total(states_of_model(recipe, model))
    return crossings.lines(formulas, shape, lengths(shape))


def lengths(shape: Shape) -> tuple[int, ...]:
    """Lengths along the curve: those of all pages, or halves of the positions that there are."""
    most = shape.get(P.name)
    if most is None:
        return CURVE
    return tuple(sorted({-(-most // 2**step) for step in range(STEPS)}))


def _layers(model: Model) -> tuple[Part, ...]:
    return tuple(part for part in model.parts if part.where == LAYERS)


def made_of(model: Model) -> tuple[str, ...]:
    """The names of its layers, each once."""
    return tuple(dict.fromkeys(part.name for part in _layers(model)))


def using(name: str, shapes: Iterable[Shape]) -> tuple[Shape, ...]:
    """The models that are made of a layer."""
    return tuple(shape for shape in shapes if name in layers_of(shape))


__all__ = [
    "REST",
    "Held",
    "Planned",
    "against_length",
    "categories",
    "length",
    "lengths",
    "made_of",
    "parameters",
    "planned",
    "stacks",
    "using",
]
