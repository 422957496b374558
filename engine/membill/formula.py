"""A Formula: an exact expression with a unit, that prints, evaluates and becomes code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import sympy

from membill import algebra, printer, symbols
from membill.errors import InputError, unknown
from membill.evaluation import evaluated, is_any, is_array, narrowed
from membill.tensor import exact

Definition = tuple[sympy.Symbol, sympy.Expr]


@dataclass(frozen=True)
class Condition:
    """`divisor` must divide `dividend`; or, `either_way`, the one the other."""

    divisor: sympy.Expr
    dividend: sympy.Expr
    either_way: bool = False

    @property
    def open(self) -> bool:
        """Whether it still depends on a symbol."""
        return bool(self.divisor.free_symbols | self.dividend.free_symbols)

    def xreplace(self, values: Mapping[sympy.Symbol, sympy.Expr]) -> Condition:
        """The condition with expressions put in for symbols."""
        return replace(
            self,
            divisor=self.divisor.xreplace(dict(values)),
            dividend=self.dividend.xreplace(dict(values)),
        )

    def __str__(self) -> str:
        left, right = printer.text(self.divisor), printer.text(self.dividend)
        return f"{left} | {right}" + (f" or {right} | {left}" if self.either_way else "")


@dataclass(frozen=True)
class Formula:
    """An exact count (of bytes, of parameters) over Membill's symbols.

    expr: the SymPy expression, with integer or rational coefficients only.
    unit: what it counts ("bytes", "parameters").
    definitions: what was put in for other symbols, such as (d_k, d/h). Evaluation checks that
        each comes out whole and agrees with a value given for its symbol.
    conditions: what must divide what for the formula to hold; a violated one is an error.
    """

    expr: sympy.Expr
    unit: str
    definitions: tuple[Definition, ...] = ()
    conditions: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        expr = self.expr if isinstance(self.expr, sympy.Expr) else exact(self.expr, "formula")
        object.__setattr__(self, "expr", _counting(expr))

    def __str__(self) -> str:
        return printer.text(self.expr)

    def latex(self) -> str:
        """The formula as LaTeX, factors and terms in the field's order."""
        return printer.latex(self.expr)

    def python(self) -> str:
        """Python source that gives the same int for the same ints."""
        return printer.python(self.expr)

    def javascript(self) -> str:
        """JavaScript source that gives the same BigInt for the same BigInts."""
        return printer.javascript(self.expr)

    @property
    def symbols(self) -> tuple[str, ...]:
        """Names of the symbols that a value is needed for."""
        return _names(self.expr)

    def __add__(self, other: Formula) -> Formula:
        if not isinstance(other, Formula):
            return NotImplemented
        if self.unit != other.unit:
            raise InputError(f"cannot add {other.unit} to {self.unit}")
        return Formula(
            self.expr + other.expr,
            self.unit,
            tuple(dict.fromkeys((*self.definitions, *other.definitions))),
            tuple(dict.fromkeys((*self.conditions, *other.conditions))),
        )

    def __mul__(self, factor: int | sympy.Expr) -> Formula:
        expr = self.expr * exact(factor, "factor")
        return Formula(expr, self.unit, self.definitions, self.conditions)

    __rmul__ = __mul__

    def subs(self, values: Mapping[sympy.Symbol, int | sympy.Expr]) -> Formula:
        """The formula with symbols replaced by ints or expressions, exactly and all at once.

        Raises InputError for a value that is not exact or not positive, for one that differs
        from what the formula has put in for its symbol, and for numbers that violate a condition.
        """
        new = {_own(symbol): _positive(symbol, value) for symbol, value in values.items()}
        definitions = tuple((own, given.xreplace(new)) for own, given in self.definitions)
        for symbol, given in definitions:
            if given.is_integer is False or new.get(symbol, given) != given:
                raise InputError(
                    f"this formula has put in {symbol} = {printer.text(given)}, "
                    + ("not a whole number" if symbol not in new else f"not {new[symbol]}")
                )
        numbers = {own.name: int(value) for own, value in new.items() if value.is_Integer}
        for condition in self.conditions:
            _check_condition(condition, numbers)
        conditions = (condition.xreplace(new) for condition in self.conditions)
        open_ones = tuple(condition for condition in conditions if condition.open)
        return Formula(self.expr.xreplace(new), self.unit, definitions, open_ones)

    def __call__(self, **values: Any) -> Any:
        """Evaluate exactly: ints give an int, NumPy integer arrays broadcast to an array.

        An array result is int64 where every value fits and Python ints (dtype object) where
        not; it never wraps around. Any symbol of Membill's may be given, so that a whole model
        shape can be passed. Raises InputError for a missing value, an unknown symbol, or
        anything but a positive integer; and if a quotient in the formula does not come out whole.
        """
        counts = {name: counted(name, value) for name, value in values.items()}
        missing = [name for name in self.symbols if name not in counts]
        if missing:
            raise InputError(
                f"no value for {', '.join(missing)} in {self}: give it as {missing[0]}=..."
            )
        for symbol, definition in self.definitions:
            _check_definition(symbol, definition, counts)
        for condition in self.conditions:
            _check_condition(condition, counts)
        result = evaluated(self.expr, counts, lambda: str(self))
        return narrowed(result) if is_array(result) else result


@lru_cache(maxsize=1 << 14)
def _names(expr: sympy.Expr) -> tuple[str, ...]:
    return tuple(sorted(symbol.name for symbol in expr.free_symbols))


@lru_cache(maxsize=1 << 15)
def _counting(expr: sympy.Expr) -> sympy.Expr:
    return algebra.expanded(exact(expr, "formula"))


def _check_definition(
    symbol: sympy.Symbol, definition: sympy.Expr, values: Mapping[str, Any]
) -> None:
    if not all(name in values for name in _names(definition)):
        return
    value = evaluated(definition, values, lambda: f"{symbol} = {printer.text(definition)}")
    given = values.get(symbol.name)
    if given is not None and is_any(given != value):
        raise InputError(
            f"{symbol} = {given} contradicts {symbol} = {printer.text(definition)} = {value}, "
            "which this formula has put in; ask for it with specialise=False"
        )


def _own(symbol: object) -> sympy.Symbol:
    if not isinstance(symbol, sympy.Symbol):
        raise InputError(f"{symbol!r} is not a symbol: import it from membill.symbols")
    symbols.info(symbol)
    return symbol


def _positive(symbol: sympy.Symbol, value: object) -> sympy.Expr:
    expr = exact(value, f"value of {symbol}")
    if expr.is_positive is False:
        raise InputError(f"{symbol} = {expr} is not allowed: {symbol} is an integer > 0")
    return expr


def _check_condition(condition: Condition, values: Mapping[str, Any]) -> None:
    sides = (condition.divisor, condition.dividend)
    if not all(name in values for side in sides for name in _names(side)):
        return
    below, above = (evaluated(side, values, partial(printer.text, side)) for side in sides)
    wrong = above % below != 0
    if condition.either_way:
        wrong = wrong & (below % above != 0)
    if is_any(wrong):
        raise InputError(
            f"{_valued(condition.divisor, below)} does not divide "
            f"{_valued(condition.dividend, above)}; the plan needs {condition}"
        )


def _valued(expr: sympy.Expr, value: Any) -> str:
    text = printer.text(expr)
    return text if expr.is_number else f"{text} = {value}"


def counted(name: str, value: Any) -> Any:
    """`value` for the symbol `name` as an exact int > 0 or an object array of them.

    Raises InputError for anything else.
    """
    if not symbols.is_defined(name):
        raise unknown("symbol", name, symbols.names())
    if type(value) is int and value >= symbols.named(name).least:
        return value
    if is_array(value):
        return _count_array(name, value)
    if isinstance(value, sympy.Integer):
        value = int(value)
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        kind = type(value).__name__
        raise InputError(f"{name} = {value!r} is a {kind}; {name} counts, so it is an integer > 0")
    if value.__index__() < symbols.named(name).least:
        raise InputError(f"{name} = {value} is not allowed: {name} is an integer > 0")
    return value.__index__()


def _count_array(name: str, value: Any) -> Any:
    if value.dtype.kind not in "iuO":
        raise InputError(
            f"{name} is an array of {value.dtype}; {name} counts, so it holds integers"
        )
    counts = value.astype(object)
    for item in counts.flat:
        counted(name, item)
    return counts


__all__ = ["Condition", "Definition", "Formula"]
