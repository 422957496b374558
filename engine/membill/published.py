"""Formulas as others have published them, each beside what Membill derives.

A published formula is a citation: the one place where a total is typed. What it is compared with
is described as data, derived when asked for, and never typed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy

from membill import registry
from membill.errors import unknown
from membill.formula import Formula
from membill.layers import OptionValue
from membill.pipeline import Schedule
from membill.recipe import Partition, Recipe, divided_at, model_states, states_total
from membill.symbols import i, m
from membill.tables import spelled


@dataclass(frozen=True)
class OfLayer:
    """What a layer keeps, in bytes.

    options: of the layer. settings: of the plan. scope: only what is billed to this outermost
    scope; "" for all. statistics, specialise: as in `Layer.ledger`.
    """

    layer: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    scope: str = ""
    statistics: bool = False
    specialise: bool = True

    def formula(self) -> Formula:
        """Derived; InputError for a layer, option, setting or scope that is not known."""
        ledger = registry.layer(self.layer, **self.options).ledger(
            statistics=self.statistics, specialise=self.specialise, **self.settings
        )
        scopes = dict(ledger.by_scope())
        if self.scope and self.scope not in scopes:
            raise unknown("scope", self.scope, scopes, f"of layer {self.layer!r}")
        return scopes[self.scope] if self.scope else ledger.total()

    def __str__(self) -> str:
        given = (*self.options.items(), *self.settings.items())
        chosen = [f"{name}={spelled(value)}" for name, value in given]
        within = [f"scope {self.scope}"] if self.scope else []
        exact = ["with statistics"] if self.statistics else []
        return ", ".join((self.layer, *chosen, *within, *exact))


@dataclass(frozen=True)
class OfStates:
    """What one device holds of a recipe's states; divided at a stage of a partition, if named."""

    recipe: str
    partition: str = ""
    stage: int = 0

    def formula(self) -> Formula:
        """Derived; InputError for a recipe, partition or stage that is not known."""
        divided: frozenset[str] = frozenset()
        if self.partition:
            divided = divided_at(registry.find(Partition, self.partition), self.stage)
        return states_total(model_states(registry.find(Recipe, self.recipe), divided=divided))

    def __str__(self) -> str:
        return f"{self.recipe}, {self.partition}={self.stage}" if self.partition else self.recipe


@dataclass(frozen=True)
class InFlight:
    """Micro-batches in flight on a pipeline stage, with as many in the step as it can hold.

    beside: a schedule whose number this one's is divided by, if any.
    """

    schedule: str
    stage: sympy.Expr = i
    beside: str = ""

    def formula(self) -> Formula:
        """Derived; InputError for a schedule that is not known."""
        number = self._held(self.schedule)
        if self.beside:
            number = sympy.cancel(number / self._held(self.beside))
        return Formula(number, "micro-batches")

    def _held(self, name: str) -> sympy.Expr:
        held = registry.find(Schedule, name).in_flight.subs(i, self.stage)
        return held.replace(
            sympy.Min, lambda *parts: sympy.Min(*(part for part in parts if not part.has(m)))
        )

    def __str__(self) -> str:
        beside = f" over {self.beside}" if self.beside else ""
        return f"{self.schedule}{beside}, stage {self.stage}, many micro-batches"


@dataclass(frozen=True)
class Published:
    """A formula with its source, and what it is of.

    what: in words. expr: as published, over `membill.symbols`. of: what derives the other side.
    """

    name: str
    what: str
    source: str
    expr: sympy.Expr
    of: OfLayer | OfStates | InFlight

    def compared(self) -> Compared:
        """The published formula beside the derived one."""
        derived = self.of.formula()
        difference = sympy.expand(self.expr - derived.expr)
        return Compared(self, derived, difference and sympy.simplify(difference))


@dataclass(frozen=True)
class Compared:
    """Both sides, and the published less the derived one: zero if they are equal."""

    published: Published
    derived: Formula
    difference: sympy.Expr

    @property
    def cited(self) -> Formula:
        """The published side, in the unit of the derived one."""
        return Formula(self.published.expr, self.derived.unit)

    @property
    def equal(self) -> bool:
        """Whether the difference is zero for all values of the letters."""
        return bool(self.difference == 0)
