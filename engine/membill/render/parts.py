"""The parts of models for the calculator: what one of each holds, under every choice on the page.

A part has a variant for each choice of the options that the page offers: its weights, its buffers,
its tables, what it keeps under each way to run it, and what happens in it during a step. Variants
and weights stand in tables, once each; parts refer to their places.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from membill import registry
from membill.bill import as_weight
from membill.config import Configuration
from membill.dtypes import DType
from membill.layers import Layer, Option, OptionValue
from membill.ledger import Row, total
from membill.mesh import Axis
from membill.models import Model
from membill.parts import Part
from membill.plans import Plan, plan
from membill.recipe import Recipe
from membill.recompute import Policy
from membill.render.functions import Functions, Table, quoted
from membill.render.steps import Steps
from membill.shapes import Shape
from membill.state import State
from membill.symbols import beta
from membill.tables import spelled

WIDTH = 2
"""Bytes of the compute dtype."""


@dataclass(frozen=True)
class Parts:
    """Parts as data, with the tables that they refer to; variants, being maps, as JSON."""

    known: registry.Registry
    functions: Functions
    variants: Table = field(default_factory=Table)
    weights: Table = field(default_factory=Table)
    found: dict[object, int] = field(default_factory=dict)

    def of(self, part: Part, model: Model, options: Collection[str]) -> Mapping[str, Any]:
        """A part of a model, with the place of its variant for each choice of these options."""
        tied = model.architecture.tied if part is model.end else ""
        return {
            "name": part.name,
            "category": part.category,
            "options": [option.name for option in part.layer.options if option.name in options],
            "variants": {
                "|".join(chosen): self._place(replace(part, layer=layer), tied)
                for chosen, layer in _variants(part.layer, options)
            },
        }

    @cached_property
    def shaped(self) -> list[str]:
        """The states that do not keep one number for each parameter, in the order of a weight's."""
        return [f"{recipe.name}|{state.name}" for recipe, state in self._shaped]

    @cached_property
    def _shaped(self) -> tuple[tuple[Recipe, State], ...]:
        return tuple(
            (recipe, state)
            for recipe in trained_with(self.known)
            for state in (*recipe.states, *recipe.step)
            if state.of is not None
        )

    @cached_property
    def _runs(self) -> tuple[Plan, ...]:
        """Every policy with every choice of the mesh's switches, all degrees being symbols."""
        degrees: dict[str, Any] = {name: axis.symbol for name, axis in self.known.of(Axis).items()}
        named = switches(self.known)
        runs = (
            plan(recompute=policy, **{**degrees, **dict(zip(named, on, strict=True))})
            for policy in policies(self.known)
            for on in itertools.product((False, True), repeat=len(named))
        )
        return tuple(replace(run, mesh=replace(run.mesh, open=True)) for run in runs)

    @cached_property
    def steps(self) -> Steps:
        """What happens in the parts during a step."""
        among = 2 ** len(switches(self.known))
        return Steps(self.functions, self._runs[::among], self._runs[:among])

    def _place(self, part: Part, tied: str) -> int:
        """The place of a variant; most parts are those of other models too."""
        key = (part.layer, part.where, part.dropped, tied)
        if key not in self.found:
            self.found[key] = self.variants.of(quoted(self._variant(part, tied)))
        return self.found[key]

    def _variant(self, part: Part, tied: str) -> Mapping[str, Any]:
        ledgers = [part.ledger(run, specialise=False) for run in self._runs]
        bare = ledgers[0]
        return {
            "weights": [
                self.weights.of(self._weight(part, row, row.tensor == tied)) for row in bare.weights
            ],
            "buffers": self.functions.of(total(row.bytes for row in bare.buffers)),
            "tables": {row.tensor: self.functions.of(row.bytes) for row in bare.tables},
            "kept": [self.functions.of(ledger.total()) for ledger in ledgers],
            "step": self.steps.of(part),
        }

    def _weight(self, part: Part, row: Row, tied: bool) -> tuple[Any, ...]:
        """Its entries, 1 if it may be tied, 1 if it is trained, width, what shaped states keep."""
        weight = as_weight(part, row)
        numbers = (state.numbers(weight) for _, state in self._shaped)
        return (
            self.functions.of(row.entries),
            int(tied),
            int(weight.trainable),
            width(row.dtype),
            *map(self.functions.of, numbers),
        )


def width(dtype: DType) -> tuple[int, int]:
    """The bytes of a number as a quotient."""
    found = dtype.bytes.subs(beta, WIDTH)
    return int(found.p), int(found.q)


def offered(model: Model, options: Collection[str]) -> dict[str, dict[str, Any]]:
    """The options of these names that a model has: values, what they stand for, the default."""
    return {
        option.name: {
            "values": [*map(spelled, option.values)],
            "notes": _notes(option),
            "default": spelled(part.layer.chosen[option.name]),
        }
        for part in model.parts
        for option in part.layer.options
        if option.name in options
    }


def _notes(option: Option) -> dict[str, str]:
    """What each value stands for, where that is a function that says so."""
    return {
        spelled(value): (inspect.getdoc(function) or "").partition("\n")[0]
        for value, function in option.choices.items()
        if callable(function)
    }


def chosen(known: registry.Registry, shapes: Iterable[Shape], architecture: str) -> set[str]:
    """The options that known models, or configurations of an architecture, choose."""
    models = (shape.options for shape in shapes if shape.architecture == architecture)
    specs = [spec for spec in known.of(Configuration).values() if spec.architecture == architecture]
    files = (each for spec in specs for each in (*spec.classes.values(), spec.options))
    return {name for each in (*models, *files) for name in each}


def policies(known: registry.Registry) -> list[str]:
    """The names of the policies, in order."""
    return [*known.of(Policy)]


def switches(known: registry.Registry) -> dict[str, str]:
    """The switches of the mesh with their titles."""
    return {rule.switch: rule.title or rule.switch for rule in known.rules if rule.switch}


def trained_with(known: registry.Registry) -> Iterator[Recipe]:
    """The recipes that train all weights of a model."""
    for recipe in known.of(Recipe).values():
        if len(recipe.states) > 1 and not recipe.frozen:
            yield recipe


def _variants(layer: Layer, options: Collection[str]) -> Iterator[tuple[tuple[str, ...], Layer]]:
    """The layer with each choice of these options, those as texts."""
    mine = [option for option in layer.options if option.name in options]
    for values in itertools.product(*(option.values for option in mine)):
        chosen: dict[str, OptionValue] = {
            option.name: value for option, value in zip(mine, values, strict=True)
        }
        yield tuple(map(spelled, values)), layer.variant(**chosen)
