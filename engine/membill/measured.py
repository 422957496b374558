"""Peaks that were measured, beside derived ones: what differs, in bytes, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import sympy

from membill.finding import model
from membill.formula import Formula
from membill.layers import OptionValue
from membill.peak import Peak


@dataclass(frozen=True)
class Difference:
    """Bytes that were measured and are not in the derived peak, and their cause."""

    what: str
    bytes: sympy.Expr


@dataclass(frozen=True)
class Measured:
    """A peak that was measured.

    model, options, settings: of the derived one, as for `membill.model` and `Model.peak`. bytes:
    the measured figure, a citation. differences: what it has besides. source: how it was measured.
    """

    name: str
    title: str
    model: str
    settings: Mapping[str, Any]
    bytes: int
    source: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    differences: tuple[Difference, ...] = ()

    @cached_property
    def peak(self) -> Peak:
        """The derived peak."""
        return model(self.model, **self.options).peak(**self.settings)

    def sizes(self) -> tuple[tuple[Difference, int], ...]:
        """The differences in bytes."""
        bill = self.peak.bill
        definitions = bill.total.definitions
        put = dict(definitions)
        return tuple(
            (each, int(Formula(each.bytes.subs(put), "bytes", definitions)(**bill.values)))
            for each in self.differences
        )

    @property
    def unexplained(self) -> int:
        """What is left of the measured figure."""
        return self.bytes - self.peak.bytes - sum(size for _, size in self.sizes())
