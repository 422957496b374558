"""The largest value of a letter at which a size is small enough, in exact integers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from itertools import count
from math import gcd, isqrt, lcm

import sympy

from membill.asked import Count
from membill.errors import InputError
from membill.formula import Condition, Formula
from membill.models import Model
from membill.needs import fullest, numbered, put_in
from membill.plans import Plan

MOST = 2**60
"""Beyond this a letter is taken to have no bound."""


@dataclass(frozen=True)
class Largest:
    """The largest value of a letter that fits: 0 if none does. step: what it is a multiple of."""

    value: int
    step: int


def largest(model: Model, plan: Plan, how: Count, letter: sympy.Symbol, room: int) -> Largest:
    """The largest value of a letter at which every stage needs `room` bytes at most.

    Raises InputError if nothing needs more as it grows.
    """
    known = {name: size for name, size in how.values.items() if name != str(letter)}
    needs = fullest(numbered(model, known), plan, put_in(how))
    sizes = [need.size.subs({}) for need in needs]
    step = _step(sizes, letter)
    if any(int(size()) > room for size in sizes if letter not in size.expr.free_symbols):
        return Largest(0, step)
    growing = [size for size in sizes if letter in size.expr.free_symbols]
    if not growing:
        raise InputError(f"no bound for {letter}: what must fit does not depend on it")
    least = min(_bound(size, letter, room, step) for size in growing)
    return Largest(max(least // step * step, 0), step)


def _bound(size: Formula, letter: sympy.Symbol, room: int, step: int) -> int:
    """The largest value at which the size is `room` at most, without a care for divisors."""
    three = coefficients(size, letter)
    if three is None:
        return _bisected(size, letter, room, step)
    square, slope, rest = _whole(three, room)
    if square == 0:
        return -rest // slope
    inner = slope**2 - 4 * square * rest
    return (isqrt(inner) - slope) // (2 * square) if inner >= 0 else 0


def _whole(three: Iterable[sympy.Expr], room: int) -> tuple[int, int, int]:
    """The coefficients of size - room, times what makes them all whole."""
    square, slope, rest = (sympy.Rational(each) for each in three)
    rest -= room
    among = lcm(*(int(each.q) for each in (square, slope, rest)))
    return int(square * among), int(slope * among), int(rest * among)


def _bisected(size: Formula, letter: sympy.Symbol, room: int, step: int) -> int:
    """The same where there is no closed form; a size never falls as the letter grows."""

    def fits(times: int) -> bool:
        return int(size(**{str(letter): times * step})) <= room

    high = next((2**k for k in count() if 2**k > MOST or not fits(2**k)), 1)
    if high > MOST:
        raise InputError(f"no bound for {letter}: what must fit hardly depends on it")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low * step


def _step(sizes: Iterable[Formula], letter: sympy.Symbol) -> int:
    """What the letter must be a multiple of."""
    conditions = (each for size in sizes for each in size.conditions)
    return reduce(lcm, (_multiple(each, letter) for each in conditions), 1)


def _multiple(condition: Condition, letter: sympy.Symbol) -> int:
    times = condition.dividend / letter
    if not (condition.divisor.is_Integer and times.is_Integer):
        return 1
    return int(condition.divisor) // gcd(int(condition.divisor), int(times))


def coefficients(
    size: Formula, letter: sympy.Symbol
) -> tuple[sympy.Expr, sympy.Expr, sympy.Expr] | None:
    """Those of the square, of the letter itself, and the rest; None if it is no such polynomial.

    Nor is a size that does not depend on the letter.
    """
    if not size.expr.is_polynomial(letter) or sympy.degree(size.expr, letter) not in (1, 2):
        return None
    square, slope, rest = (size.expr.coeff(letter, power) for power in (2, 1, 0))
    return square, slope, rest
