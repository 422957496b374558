"""Evaluating an expression exactly: over Python ints, or NumPy arrays of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import CodeType
from typing import Any

import sympy

from membill import algebra
from membill.errors import InputError

_EXTREMES = {sympy.Max: "max", sympy.Min: "min"}


def evaluated(expr: sympy.Expr, values: Mapping[str, Any], what: Callable[[], str]) -> Any:
    """The value of an expression at ints, or object arrays of ints, by the names of its symbols.

    what: how the expression is called if it does not come out whole, which is an InputError.
    """
    if expr.is_Integer:
        return int(expr)
    # The code is made below, over symbol names that are identifiers; input never gets here.
    above, below = eval(_compile(expr), {"__builtins__": _SCOPE}, values)
    rest = above % below
    if is_any(rest != 0):
        given = ", ".join(f"{name} = {value}" for name, value in values.items())
        raise InputError(f"{what()} is not a whole number" + (f" at {given}" if given else ""))
    return above // below


@lru_cache(maxsize=1 << 12)
def _compile(expr: sympy.Expr) -> CodeType:
    """A numerator and a denominator over exact ints, ready to run."""
    return compile(",".join(_fraction(expr)), "<formula>", "eval")


def _fraction(expr: sympy.Expr) -> tuple[str, str]:
    """Source of a numerator and a denominator."""
    plain = algebra.over_one_denominator(expr)
    found = algebra.whole_terms(plain)
    if found is None:
        above, below = map(_source, algebra.quotient(plain))
        return above, below
    terms, common = found
    return "+".join(map(_product, terms)), _product(common)


def _product(term: algebra.Term) -> str:
    number, factors = term
    powers = (_source(base) + (f"**{power}" if power > 1 else "") for base, power in factors)
    return "*".join([f"({number})", *powers])


def _source(expr: sympy.Expr) -> str:
    """Python source of what is whole at integers, with terms and factors in SymPy's order.

    The printer's has the field's order, for readers; to sort takes longer than all else here.
    """
    if expr.is_Symbol or expr.is_Integer:
        return f"({expr})"
    if expr.is_Add or expr.is_Mul:
        return f"({('+' if expr.is_Add else '*').join(map(_source, expr.args))})"
    if expr.is_Pow and expr.exp.is_Integer and expr.exp > 0:
        return f"{_source(expr.base)}**{expr.exp}"
    if expr.func in _EXTREMES:
        return f"{_EXTREMES[expr.func]}({','.join(map(_source, expr.args))})"
    if expr.func in (sympy.floor, sympy.ceiling):
        above, below = _fraction(expr.args[0])
        if expr.func is sympy.floor:
            return f"(({above})//({below}))"
        return f"(-(-({above})//({below})))"
    raise InputError(f"no way to evaluate {expr}")


def is_array(value: Any) -> bool:
    """Whether a value is a NumPy array, without importing NumPy."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def narrowed(array: Any) -> Any:
    """An object array as int64, if every value fits."""
    import numpy

    int64 = numpy.iinfo(numpy.int64)
    fits = all(int64.min <= item <= int64.max for item in array.flat)
    return array.astype(numpy.int64) if fits else array


def is_any(condition: Any) -> bool:
    """Whether a condition holds, or holds anywhere in an array."""
    return bool(condition.any()) if is_array(condition) else bool(condition)


def _extreme(pick: Callable[..., Any]) -> Callable[..., Any]:
    """max or min that also broadcasts over arrays, which the builtins do not."""

    def choose(*args: Any) -> Any:
        if not any(is_array(arg) for arg in args):
            return pick(*args)
        import numpy

        return numpy.frompyfunc(pick, len(args), 1)(*args)

    return choose


_SCOPE = {"max": _extreme(max), "min": _extreme(min)}
"""All that source can call."""
