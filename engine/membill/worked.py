"""Worked examples: figures that others have published for whole models, beside derived ones.

A published figure is a citation. What it is compared with is described as data: entries of a bill,
derived when asked for, and never typed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import sympy

from membill import registry
from membill.errors import unknown
from membill.finding import model
from membill.formula import Formula
from membill.layers import OptionValue
from membill.ledger import total
from membill.models import Model
from membill.tables import settings_text
from membill.units import UNITS, decimal

STATES = "model states"


@dataclass(frozen=True)
class OfBill:
    """Bytes of some entries of a bill.

    model: a model's name, or an architecture's with the sizes of `like`, a known model. options:
    of the model. settings: of `Model.bill`. adapt: an adapter and where it is put in.
    category: only its entries; STATES for those of the recipe, all if empty. part: only the
    entries of this part. letter: only the terms with it.
    """

    model: str
    settings: Mapping[str, Any]
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    like: str = ""
    adapt: tuple[str, tuple[str, ...]] | None = None
    category: str = ""
    part: str = ""
    letter: sympy.Symbol | None = None

    def made(self) -> Model:
        """The model, with its adapter."""
        found = model(self.model, **self.options)
        return found if self.adapt is None else found.adapt(*self.adapt)

    def formula(self) -> Formula:
        """The sum of the entries; InputError for a name that is not known."""
        bill = self.made().bill(**self.settings)
        states = tuple(state.name for state in bill.recipe.every)
        if self.category not in ("", STATES, *bill.categories):
            raise unknown("category", self.category, [STATES, *bill.categories])
        wanted = {"": tuple(bill.categories), STATES: states}.get(self.category, (self.category,))
        entries = (
            entry.bytes
            for entry in bill.entries
            if entry.category in wanted and self.part in ("", entry.part) and not entry.moved
        )
        size = total(entries)
        return size if self.letter is None else _terms(size, self.letter)

    def bytes(self) -> int:
        """The same in numbers."""
        size = self.formula()
        dims = registry.shape(self.like) if self.like else self.made().shape
        values = {**(dims or {}), **self.settings}
        return int(size(**{name: values[name] for name in size.symbols if name in values}))

    def __str__(self) -> str:
        like = f"sizes of {self.like}" if self.like else ""
        adapted = f"{self.adapt[0]} on {','.join(self.adapt[1])}" if self.adapt else ""
        terms = f"terms in {self.letter}" if self.letter is not None else ""
        given = settings_text({**self.options, **self.settings})
        return ", ".join(filter(None, (self.model, like, adapted, given, self.category, terms)))


@dataclass(frozen=True)
class OfCache:
    """What a model caches in inference. settings: of `Model.cache`."""

    model: str
    settings: Mapping[str, Any]

    def bytes(self) -> int:
        """Derived, in numbers."""
        return model(self.model).cache(**self.settings).bytes

    def __str__(self) -> str:
        return f"{self.model}, {settings_text(self.settings)}, cache"


@dataclass(frozen=True)
class Figure:
    """One figure of a worked example.

    given: as published, such as "104.2"; empty if it was not. unit: of bytes. of: what it is the
    sum of. note: why the two differ, if they do.
    """

    what: str
    given: str
    unit: str
    of: tuple[OfBill | OfCache, ...]
    note: str = ""

    @cached_property
    def bytes(self) -> int:
        """Derived."""
        return sum(each.bytes() for each in self.of)

    @property
    def cited(self) -> str:
        """The published figure as this site writes numbers."""
        return f"{decimal(Fraction(self.given), self.places)} {self.unit}" if self.given else ""

    @property
    def derived(self) -> str:
        """The derived figure, to as many places as the published one."""
        return f"{decimal(Fraction(self.bytes, UNITS[self.unit]), self.places)} {self.unit}"

    @property
    def places(self) -> int:
        """Places of the published figure; two of one that is not."""
        return len(self.given.partition(".")[2]) if self.given else 2

    @property
    def equal(self) -> bool:
        """Whether the derived figure, rounded or cut off, is the published one."""
        exact = Fraction(self.bytes, UNITS[self.unit]) * 10**self.places
        published = Fraction(self.given) * 10**self.places
        return published in (exact // 1, (exact + Fraction(1, 2)) // 1)


@dataclass(frozen=True)
class Worked:
    """A worked example: figures for one model, with where they were published.

    assumed: what the published figures take for granted, in words.
    """

    name: str
    title: str
    source: str
    assumed: str
    figures: tuple[Figure, ...]


def _terms(size: Formula, letter: sympy.Symbol) -> Formula:
    """The terms of a sum that have a letter in them."""
    kept = (term for term in sympy.Add.make_args(size.expr) if term.has(letter))
    return Formula(sympy.Add(*kept), size.unit, size.definitions, size.conditions)
