"""Number formats for inference: how wide a cached entry is, and what is kept of a weight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sympy

from membill.dtypes import DType
from membill.formula import Formula
from membill.ledger import total
from membill.models import Model
from membill.plans import Plan
from membill.plans import plan as make_plan
from membill.recipe import Recipe, StateRow, states_of, under
from membill.state import State
from membill.symbols import named


@dataclass(frozen=True)
class Format:
    """A number format in which a model is served.

    dtype: of an entry of the cache. weights: what is kept of the weights, constants of blocks
    among it, as states of kind "weights".
    """

    name: str
    title: str
    dtype: DType
    weights: tuple[State, ...]
    summary: str
    source: str


def weights_in(
    model: Model,
    given: Format,
    plan: Plan | None = None,
    values: Mapping[str, int] | None = None,
) -> tuple[StateRow, ...]:
    """What one device holds of a model's weights in a format, in bytes, by state.

    plan: its mesh divides them. values: numbers for letters. Raises InputError for what the mesh
    cannot divide.
    """
    from membill.bill import as_weight  # it needs the whole of models, as `Model.weights` here

    run = make_plan(plan)
    recipe = Recipe(given.name, given.title, given.weights, given.summary, given.source)
    rows = states_of(
        recipe,
        [(as_weight(part, row), sympy.sympify(part.times)) for part, row in model.weights(run)],
        dtype_bytes=run.dtype_bytes,
        sizes={named(name).symbol: size for name, size in (values or {}).items()},
    )
    parameters = model.parameters(run)
    return tuple(
        StateRow(row.state, under(row.bytes, parameters), row.divided)
        for row in rows
        if row.bytes.expr != 0
    )


def weight_bytes(
    model: Model,
    given: Format,
    plan: Plan | None = None,
    values: Mapping[str, int] | None = None,
) -> Formula:
    """The sum of `weights_in`."""
    return total(row.bytes for row in weights_in(model, given, plan, values))
