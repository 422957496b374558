"""Formulas as JavaScript functions: what the calculator computes with, printed by the engine.

Every formula stands in one table and is referred to by its place there. A function takes BigInts
for the symbols that stand before it, and returns a numerator and a denominator, so that the script
can see whether the one divides the other.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import sympy

from membill import algebra, printer
from membill.formula import Condition, Formula

_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass
class Table:
    """A table of data, each row once, that grows as they are asked for."""

    places: dict[Any, int] = field(default_factory=dict)

    def of(self, row: Hashable) -> int:
        """The place of a row: a tuple, which JSON writes as a list."""
        return self.places.setdefault(row, len(self.places))

    @property
    def rows(self) -> list[Any]:
        """The rows in order."""
        return [*self.places]


@dataclass
class Functions:
    """A table of formulas, each once, that grows as they are asked for."""

    places: dict[tuple[sympy.Expr, tuple[Condition, ...]], int] = field(default_factory=dict)
    conditions: dict[Condition, int] = field(default_factory=dict)

    def of(self, formula: Formula | sympy.Expr) -> int:
        """The place of a formula, under its conditions, or of a bare expression."""
        if isinstance(formula, Formula):
            key = (formula.expr, formula.conditions)
        else:
            key = (sympy.sympify(formula), ())
        for condition in key[1]:
            self.check(condition)
        return self.places.setdefault(key, len(self.places))

    def check(self, condition: Condition) -> int:
        """The place of a condition."""
        return self.conditions.setdefault(condition, len(self.conditions))

    def script(self) -> str:
        """The table as an array in JavaScript: functions, their text, their conditions."""
        formulas = (self._entry(expr, conditions) for expr, conditions in self.places)
        return "[" + ",\n".join(formulas) + "]"

    def checks(self) -> str:
        """The conditions as an array in JavaScript: both sides, and how they are said."""
        return "[" + ",\n".join(map(_check, self.conditions)) + "]"

    def _entry(self, expr: sympy.Expr, conditions: tuple[Condition, ...]) -> str:
        which = ",".join(str(self.conditions[condition]) for condition in conditions)
        return f"[{function(expr)},{quoted(printer.text(expr))},[{which}]]"


def function(expr: sympy.Expr) -> str:
    """An expression as the names of its symbols, and a function of these to [above, below]."""
    above, below = algebra.fraction(expr)
    names = sorted(symbol.name for symbol in expr.free_symbols)
    body = f"[{printer.javascript(above)},{printer.javascript(below)}]"
    return f"{quoted(names)},({','.join(names)})=>{body}"


def _check(condition: Condition) -> str:
    sides = f"{function(condition.divisor)},{function(condition.dividend)}"
    either = "true" if condition.either_way else "false"
    texts = ",".join(quoted(printer.text(s)) for s in (condition.divisor, condition.dividend))
    return f"[{sides},{either},{texts},{quoted(str(condition))}]"


def quoted(value: Any) -> str:
    """A value as JavaScript writes it; safe within a script element."""
    return _encoder.encode(value).replace("</", "<\\/")
