"""Which of two events is larger, by one letter: solved exactly."""

from __future__ import annotations

from dataclasses import dataclass

import sympy

from membill import printer
from membill.errors import InputError, unknown
from membill.events import Event
from membill.symbols import is_defined, named, names


@dataclass(frozen=True)
class Outweighing:
    """One event exceeds another while `letter` is above `bound`, or below it if not `above`."""

    letter: str
    above: bool
    bound: sympy.Expr

    @property
    def always(self) -> bool:
        """Whether it holds for every number that the letter can stand for."""
        return self.above and bool(self.bound.is_number and self.bound < named(self.letter).least)

    def __str__(self) -> str:
        return f"{self.letter} {'>' if self.above else '<'} {printer.text(self.bound)}"


def outweighs(one: Event, other: Event, letter: str, **values: int) -> Outweighing:
    """When `one` takes more bytes than `other`, as a condition on a letter that both are linear in.

    values: for other letters; what has none stays in the bound. Raises InputError if their
    difference is not linear in the letter, or if its sign depends on letters without a value.
    """
    if not is_defined(letter):
        raise unknown("symbol", letter, names())
    symbol = named(letter).symbol
    put = {
        named(name).symbol: sympy.Integer(size) for name, size in values.items() if name != letter
    }
    difference = sympy.expand((one.total.expr - other.total.expr).xreplace(put))
    if not difference.is_polynomial(symbol) or sympy.degree(difference, symbol) != 1:
        raise InputError(f"{letter}: the two events do not differ by a multiple of it")
    slope = difference.coeff(symbol, 1)
    above = _sign(slope, letter)
    return Outweighing(letter, above, sympy.cancel(-difference.coeff(symbol, 0) / slope))


def _sign(slope: sympy.Expr, letter: str) -> bool:
    """Whether an expression over positive letters is positive."""
    signs = {bool(number > 0) for number in slope.as_coefficients_dict().values()}
    if len(signs) != 1:
        missing = ", ".join(sorted(map(str, slope.free_symbols)))
        raise InputError(f"{letter}: which event grows faster depends on {missing}: give values")
    return signs.pop()
