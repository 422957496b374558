"""What a recipe keeps for each parameter, by the kind of its weight; and for a whole model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import sympy

from membill.bill import as_weight
from membill.errors import InputError
from membill.models import Model
from membill.recipe import Recipe, StateRow, states_of
from membill.state import State, Weight
from membill.symbols import N_d, n_c, n_r, named

MATRIX = Weight("", n_r, n_c)
KINDS: Mapping[str, Weight] = {
    "matrices in layers": MATRIX,
    "other matrices": replace(MATRIX, hidden=False),
    "vectors": replace(MATRIX, rows=sympy.Integer(1), matrix=False),
}
"""A weight of each kind that a recipe can tell apart by its shape and place."""


@dataclass(frozen=True)
class Kept:
    """What is kept for each parameter of some kinds of weights, in bytes, by state.

    A share of a block's constant is a fraction: no block is rounded up.
    """

    kinds: tuple[str, ...]
    frozen: bool
    states: Mapping[State, sympy.Expr]

    @property
    def total(self) -> sympy.Expr:
        """Bytes for each parameter."""
        return sympy.Add(*self.states.values())

    @property
    def name(self) -> str:
        """The kinds in words."""
        every = len(self.kinds) == len(KINDS)
        text = "all weights" if every else ", ".join(self.kinds)
        return f"frozen: {text}" if self.frozen else text


def kept(recipe: Recipe) -> tuple[Kept, ...]:
    """What a recipe keeps for each parameter, at two bytes for the compute dtype.

    Kinds of weights of which it keeps the same come together; frozen ones if it says what is
    kept of those.
    """
    found = list(_alike(recipe, trainable=True))
    return tuple(found + list(_alike(recipe, trainable=False)) if recipe.frozen else found)


def _alike(recipe: Recipe, *, trainable: bool) -> Iterator[Kept]:
    groups: dict[tuple[tuple[State, sympy.Expr], ...], list[str]] = {}
    for name, kind in KINDS.items():
        weight = replace(kind, trainable=trainable)
        sizes = tuple((state, each_parameter(state, weight)) for state in recipe.kept(weight))
        groups.setdefault(tuple(item for item in sizes if item[1] != 0), []).append(name)
    for states, names in groups.items():
        yield Kept(tuple(names), not trainable, dict(states))


def each_parameter(state: State, weight: Weight) -> sympy.Expr:
    """Bytes of a state for each parameter of a weight, at two bytes for the compute dtype."""
    return sympy.expand(state.numbers(weight) / weight.entries * state.bits / 8)


def weights_of(model: Model, **values: Any) -> tuple[tuple[Weight, sympy.Expr], ...]:
    """Every weight of a model in numbers, with how often it comes.

    values: for letters beside the model's dimensions, such as an adapter's r=8. Raises InputError
    for a letter without one.
    """
    sizes = {
        named(name).symbol: sympy.Integer(size) for name, size in model.values(**values).items()
    }
    return tuple(
        (_numbered(as_weight(part, row), sizes, model), _number(part.times, sizes, model))
        for part, row in model.weights()
    )


def _numbered(weight: Weight, sizes: Mapping[sympy.Symbol, sympy.Integer], model: Model) -> Weight:
    dims = ("rows", "columns", "stack", "groups")
    put = {name: _number(getattr(weight, name), sizes, model) for name in dims}
    return replace(weight, **put)


def _number(
    expr: sympy.Expr, sizes: Mapping[sympy.Symbol, sympy.Integer], model: Model
) -> sympy.Integer:
    number = sympy.sympify(expr).xreplace(sizes)
    if number.is_Integer:
        return number
    if not number.free_symbols:
        raise InputError(f"model {model.name!r}: {expr} is not a whole number")
    missing = sorted(map(str, number.free_symbols))
    raise InputError(
        f"model {model.name!r}: no value for {', '.join(missing)}: give {missing[0]}=..."
    )


def states_of_model(
    recipe: Recipe,
    model: Model,
    *,
    divided: frozenset[str] = frozenset(),
    devices: int | sympy.Expr = N_d,
    **values: Any,
) -> tuple[StateRow, ...]:
    """What one device holds of each state of a recipe, for a model whose dimensions are known.

    divided, devices: as in `membill.recipe.model_states`; values: as in `weights_of`. Small
    weights are told by their sizes, and each weight that is not divided has blocks of its own.
    """
    weights = weights_of(model, **values)
    return states_of(recipe, weights, divided=divided, devices=devices, sizes={})
