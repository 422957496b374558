"""What the pages of recipes state: bytes of a parameter, of models, and who divides them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy

from membill import registry, units
from membill.bill import as_weight
from membill.finding import of_shape
from membill.formula import Formula
from membill.kept import Kept, kept, weights_of
from membill.models import Model
from membill.parts import LAYERS
from membill.recipe import Partition, Recipe, StateRow, model_states, states_of, states_total
from membill.render.charts import Bar, Stack
from membill.state import State, Weight
from membill.symbols import beta


@dataclass(frozen=True)
class OfModel:
    """A model under a recipe, all numbers known: its states and its parameters."""

    title: str
    rows: tuple[StateRow, ...]
    parameters: int

    @property
    def bytes(self) -> int:
        """The sum over all states."""
        return int(states_total(self.rows)())

    def stack(self, label: str) -> Stack:
        """The states as one bar."""
        parts = [
            Bar(row.state.name, row.state.name, float(size), f"{row.state.name} {units.gb(size)}")
            for row in self.rows
            if (size := int(row.bytes()))
        ]
        return Stack(label, parts, units.gb(self.bytes))


def of_model(
    recipe: Recipe, name: str, adapter: str, on: Sequence[str], values: Mapping[str, int]
) -> OfModel:
    """A known model under a recipe. values: for an adapter's letters."""
    return _of_model(recipe, name, adapter, tuple(on), tuple(values.items()))


@cache
def _of_model(
    recipe: Recipe,
    name: str,
    adapter: str,
    on: tuple[str, ...],
    values: tuple[tuple[str, int], ...],
) -> OfModel:
    given = (adapter, on, values) if recipe.frozen else ("", (), ())
    title, weights, parameters = _weights(name, *given)
    return OfModel(title, states_of(recipe, weights, sizes={}), parameters)


@cache
def _weights(
    name: str, adapter: str, on: tuple[str, ...], values: tuple[tuple[str, int], ...]
) -> tuple[str, tuple[tuple[Weight, sympy.Expr], ...], int]:
    """A known model's title, its weights in numbers, and how many parameters they are."""
    model = of_shape(registry.shape(name))
    model = model.adapt(adapter, on) if adapter else model
    given: dict[str, Any] = dict(values)
    parameters = model.parameters()(**model.values(**given))
    return model.title, weights_of(model, **given), int(parameters)


def trained(recipes: Iterable[Recipe], name: str) -> Mapping[str, OfModel]:
    """A known model under each recipe that trains all weights, by the recipe's title."""
    return {
        recipe.title: _of_model(recipe, name, "", (), ())
        for recipe in recipes
        if len(recipe.states) > 1 and not recipe.frozen
    }


def stacks(found: Mapping[str, OfModel]) -> tuple[Stack, ...]:
    """Each of them as a bar of its states."""
    return tuple(each.stack(title) for title, each in found.items())


def uniform(recipe: Recipe) -> Formula | None:
    """Bytes of all states of N trained parameters, if their number alone gives them."""
    return None if recipe.shaped else states_total(model_states(recipe))


def divided(state: State, partition: Partition) -> int | None:
    """The first stage of a partitioning that divides a state; None if none does."""
    return min((n for n, kinds in partition.stages.items() if state.kind in kinds), default=None)


def of_layer(recipe: Recipe, model: Model) -> tuple[tuple[Weight, Mapping[State, sympy.Expr]], ...]:
    """How many numbers are kept of each weight of a model that is not that of its parameters.

    Weights of the first of its layers, and of what comes once; states of none are left out.
    """
    shaped = [state for state in recipe.every if state.of is not None]
    first = next(part for part in model.parts if part.where == LAYERS)
    parts = (model.start, first, model.end)
    weights = [
        as_weight(part, row) for part, row in model.weights() if any(part is own for own in parts)
    ]
    return tuple(
        (weight, {state: state.numbers(weight) for state in shaped if state in recipe.kept(weight)})
        for weight in weights
    )


def width(state: State) -> sympy.Expr:
    """Bytes of one number, at two for the compute dtype, without constants of blocks."""
    return state.dtype.bytes.subs(beta, 2)


__all__ = [
    "Kept",
    "OfModel",
    "divided",
    "kept",
    "of_layer",
    "of_model",
    "stacks",
    "trained",
    "uniform",
    "width",
]
