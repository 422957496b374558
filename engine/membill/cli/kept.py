"""What `membill states` prints: states in all and on one device, closed forms, numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import sympy

from membill import printer, registry, units
from membill.cli.facts import needs
from membill.cli.output import Fact, Section
from membill.cli.request import formula_data
from membill.formula import Formula
from membill.kept import kept, states_of_model
from membill.models import Model
from membill.recipe import Partition, Recipe, StateRow, divided_at, model_states, states_total
from membill.symbols import N
from membill.tables import Table

Parameters: TypeAlias = int | sympy.Symbol
MADE = "made by each update, and dropped, unless it is fused"


@dataclass(frozen=True)
class States:
    """The states of a recipe, and how devices divide them.

    parameters: how many, unless a model says. stages: of each partitioning that was asked for.
    devices: None unless there is one. given: numbers for letters beside the model's dimensions.
    """

    recipe: Recipe
    parameters: Parameters
    stages: Mapping[str, int]
    devices: Parameters | None
    model: Model | None
    given: Mapping[str, int]

    def whole(self, parameters: Parameters) -> tuple[StateRow, ...]:
        """Every state, divided by nothing."""
        return self._rows(parameters)

    def on_one_device(self, parameters: Parameters) -> tuple[StateRow, ...]:
        """One device's part of every state; nothing if no partitioning was asked for."""
        if self.devices is None:
            return ()
        kinds = (
            divided_at(registry.find(Partition, name), stage) for name, stage in self.stages.items()
        )
        return self._rows(parameters, divided=frozenset[str]().union(*kinds), devices=self.devices)

    def _rows(self, parameters: Parameters, **divided: Any) -> tuple[StateRow, ...]:
        if self.model is None:
            return model_states(self.recipe, parameters, **divided)
        return states_of_model(self.recipe, self.model, **divided, **dict[str, Any](self.given))

    def totals(self, parameters: Parameters) -> dict[str, Formula]:
        """The sums, by what they are sums of."""
        rows = {
            "in all": self.whole(parameters),
            "on one device": self.on_one_device(parameters),
        }
        return {name: states_total(found) for name, found in rows.items() if found}

    @property
    def open(self) -> bool:
        """Whether nothing can be added up: a recipe goes by shapes, and there is no model."""
        return self.model is None and bool(self.recipe.shaped)


def described(found: States) -> str:
    """`adam-mixed N=7,500,000,000 zero=1 dp=64`: what was asked for."""
    amount, model = found.parameters, found.model
    given = {
        "N": "" if amount == N else f"{amount:,}" if isinstance(amount, int) else str(amount),
        "model": model.name if model else "",
        **{name: str(value) for name, value in found.given.items()},
        **{name: str(stage) for name, stage in found.stages.items()},
        "dp": "" if found.devices is None else str(found.devices),
    }
    return " ".join(
        [found.recipe.name, *(f"{name}={text}" for name, text in given.items() if text)]
    )


def sections(found: States) -> list[Section]:
    """Everything to print below the heading."""
    each = [Section("bytes a parameter", _each(found.recipe))]
    made = [Section(MADE, _made(found.recipe))] if found.recipe.step else []
    if found.open:
        way = f"membill states {found.recipe.name} --model NAME"
        return [*each, *made, Section("", (("of a model", way),))]
    sizes = {
        name: sum_() for name, sum_ in found.totals(found.parameters).items() if not sum_.symbols
    }
    return [
        Section("model states", _table(found)),
        *([] if found.model else [_closed(found)]),
        *([_numbers(sizes)] if sizes else []),
        *(each if found.recipe.frozen else []),
        *made,
    ]


def _closed(found: States) -> Section:
    formulas = found.totals(N if isinstance(found.parameters, int) else found.parameters)
    facts: list[Fact] = [(name, f"{sum_} {sum_.unit}") for name, sum_ in formulas.items()]
    return Section("closed form", (*facts, *needs(formulas.values())))


def _each(recipe: Recipe) -> Table:
    """Bytes for each parameter by state, a column for each kind of weight."""
    kinds = kept(recipe)
    rows = [
        (
            state.name,
            str(state.dtype),
            *(_size(kind.states.get(state, sympy.Integer(0))) for kind in kinds),
        )
        for state in recipe.every
    ]
    sums = ("sum", "", *(_size(kind.total) for kind in kinds))
    return Table(("state", "dtype", *(kind.name for kind in kinds)), (*rows, sums))


def _made(recipe: Recipe) -> Table:
    """What the update makes besides, for each parameter."""
    rows = tuple((each.name, str(each.dtype), _size(each.bits / 8)) for each in recipe.step)
    return Table(("state", "dtype", "bytes a parameter"), rows)


def _table(found: States) -> Table:
    whole, local = found.whole(found.parameters), found.on_one_device(found.parameters)
    headers = ("state", "dtype", "bytes a parameter", "bytes in all", "bytes on one device")
    rows = [
        (row.state.name, str(row.state.dtype), _per_parameter(row), _cell(row.bytes))
        for row in whole
    ]
    if not local:
        return Table(headers[:-1], tuple(rows))
    pairs = zip(rows, local, strict=True)
    return Table(headers, tuple((*cells, _cell(row.bytes)) for cells, row in pairs))


def _per_parameter(row: StateRow) -> str:
    if row.state.of is not None:
        return "by shape"
    return _size(row.state.bits / 8)


def _size(expr: sympy.Expr) -> str:
    """Bytes of a parameter: a fraction as a decimal."""
    if not expr.is_Rational:
        return printer.text(expr)
    return units.decimal(Fraction(int(expr.p), int(expr.q)), 0 if expr.is_Integer else 3)


def _cell(size: Formula) -> str:
    return str(size) if size.symbols else f"{size():,}"


def _numbers(sizes: Mapping[str, int]) -> Section:
    rows = (
        ("exact", *map(units.exact, sizes.values())),
        ("in GB (10⁹ B)", *map(units.gb, sizes.values())),
        ("in GiB (2³⁰ B)", *map(units.gib, sizes.values())),
    )
    return Section("", Table(("", *sizes), rows))


def as_data(found: States) -> dict[str, Any]:
    """Everything for JSON."""
    rows = () if found.open else found.whole(found.parameters)
    local = () if found.open else found.on_one_device(found.parameters)
    model = found.model
    number = model.parameters()(**model.values(**found.given)) if model else found.parameters
    return {
        "recipe": found.recipe.name,
        "title": found.recipe.title,
        "source": found.recipe.source,
        "model": model and model.name,
        "parameters": _number(number),
        "stages": dict(found.stages),
        "devices": None if found.devices is None else _number(found.devices),
        "each_parameter": [
            {
                "weights": kind.name,
                "states": {each.name: printer.text(size) for each, size in kind.states.items()},
                "total": printer.text(kind.total),
            }
            for kind in kept(found.recipe)
        ],
        "states": [
            {
                "name": row.state.name,
                "kind": row.state.kind,
                "dtype": str(row.state.dtype),
                "bits_per_parameter": None if row.state.of else str(row.state.bits),
                "in_all": formula_data(row.bytes),
                "on_one_device": formula_data(local[place].bytes) if local else None,
            }
            for place, row in enumerate(rows)
        ],
        "made_by_update": [
            {"name": each.name, "dtype": str(each.dtype), "bits_per_parameter": str(each.bits)}
            for each in found.recipe.step
        ],
        "totals": {
            name.replace(" ", "_"): _total_data(size)
            for name, size in ({} if found.open else found.totals(found.parameters)).items()
        },
    }


def _total_data(size: Formula) -> dict[str, Any]:
    return {"formula": formula_data(size), "bytes": None if size.symbols else size()}


def _number(value: int | sympy.Symbol) -> int | str:
    return value if isinstance(value, int) else str(value)
