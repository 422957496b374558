"""Exact algebra on counts: multiplied out, in factors, over one denominator, rounded up.

SymPy can do all of this to any expression, and looks for what a count never has. What follows
knows sums of products of powers, and leaves the rest to SymPy.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache, reduce
from itertools import product

import sympy

from membill.errors import InputError

Factor = tuple[sympy.Expr, int]
"""A base and its power."""

Term = tuple[int, tuple[Factor, ...]]
"""A number, and what it is multiplied by."""


@lru_cache(maxsize=1 << 15)
def expanded(expr: sympy.Expr) -> sympy.Expr:
    """The expression multiplied out; of SymPy's ways to expand, those that a count can need."""
    if _is_multiplied_out(expr):
        return expr
    if expr.is_Add:
        return sympy.Add(*map(expanded, expr.args))
    if expr.is_Mul and all(map(_is_multiplied_out, expr.args)):
        sums = map(sympy.Add.make_args, expr.args)
        return sympy.Add(*(sympy.Mul(*each) for each in product(*sums)))
    return sympy.expand(expr, log=False, power_base=False, power_exp=False, basic=False)


def _is_multiplied_out(expr: sympy.Expr) -> bool:
    """Whether no sum is a factor or a base."""
    if expr.is_Atom:
        return True
    powers = expr.is_Mul or expr.is_Pow
    return all(not (powers and arg.is_Add) and _is_multiplied_out(arg) for arg in expr.args)


@lru_cache(maxsize=1 << 14)
def factors(term: sympy.Expr) -> tuple[sympy.Rational, tuple[Factor, ...]]:
    """A term's number, and what else it is the product of; InputError if they are not exact."""
    number, rest = term.as_coeff_Mul(rational=True)
    if not number.is_Rational:
        raise InputError(f"no way to write {term}: its factor {number} is not exact")
    return number, tuple(_factor(each) for each in sympy.Mul.make_args(rest) if each != 1)


def _factor(expr: sympy.Expr) -> Factor:
    base, power = expr.as_base_exp()
    if not power.is_Integer:
        raise InputError(f"no way to write {base} to the power {power} in a formula")
    return base, int(power)


def is_whole(term: sympy.Expr) -> bool:
    """Whether a term is a product that divides by nothing."""
    number, others = factors(term)
    return not term.is_Add and number.q == 1 and all(power > 0 for _, power in others)


def fraction(expr: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr]:
    """Numerator and denominator, both whole at integers, also within `Max` and `Min`."""
    return quotient(over_one_denominator(expr))


def quotient(expr: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr]:
    """An expanded sum over the least common denominator of its terms."""
    whole = expanded(expr)
    terms = sympy.Add.make_args(whole)
    if all(map(is_whole, terms)):
        return whole, sympy.Integer(1)
    common = _denominator(terms)
    if common is None:
        above, below = sympy.fraction(sympy.together(expr))
        return above, below
    below = _multiplied(common)
    return sympy.Add(*(term * below for term in terms)), below


def whole_terms(expr: sympy.Expr) -> tuple[tuple[Term, ...], Term] | None:
    """The numerator's terms and the denominator, not multiplied; None where factors may cancel."""
    terms = sympy.Add.make_args(expanded(expr))
    common = _denominator(terms)
    if common is None:
        return None
    return tuple(_times(factors(term), common) for term in terms), common


def _denominator(terms: Iterable[sympy.Expr]) -> Term | None:
    """The least common one; None if a sum is among its factors, which may cancel others."""
    powers: dict[sympy.Expr, int] = {}
    numbers = [1]
    for number, others in map(factors, terms):
        numbers.append(int(number.q))
        for base, power in others:
            if power < 0:
                powers[base] = max(powers.get(base, 0), -power)
    if any(base.has(sympy.Add) for base in powers):
        return None
    return math.lcm(*numbers), tuple(powers.items())


def _times(term: tuple[sympy.Rational, tuple[Factor, ...]], common: Term) -> Term:
    number, powers = term[0], dict(term[1])
    for base, power in common[1]:
        powers[base] = powers.get(base, 0) + power
    held = tuple((base, power) for base, power in powers.items() if power)
    return int(number.p) * (common[0] // int(number.q)), held


def _multiplied(term: Term) -> sympy.Expr:
    number, powers = term
    return sympy.Mul(number, *(base**power for base, power in powers))


@lru_cache(maxsize=1 << 14)
def over_one_denominator(expr: sympy.Expr) -> sympy.Expr:
    """Max(T/2, b) as Max(T, 2b)/2: integer division of an argument would round it."""

    def rewrite(extreme: sympy.Expr) -> sympy.Expr:
        below = reduce(sympy.lcm, (sympy.fraction(sympy.together(x))[1] for x in extreme.args))
        if not below.is_positive:
            raise InputError(f"no way to write {extreme} in code: {below} may not be positive")
        return extreme.func(*(sympy.cancel(x * below) for x in extreme.args)) / below

    if not expr.has(sympy.Max, sympy.Min):
        return expr
    return expr.replace(lambda part: isinstance(part, (sympy.Max, sympy.Min)), rewrite)


@lru_cache(maxsize=4096)
def never_negative(expr: sympy.Expr) -> bool:
    """Whether it is seen to be so for symbols from 1 on: T + t - 1 is (T + 1) + (t + 1) - 1."""
    shifted = expr.xreplace({symbol: symbol + 1 for symbol in expr.free_symbols})
    return bool(sympy.expand(shifted).is_nonnegative)


@lru_cache(maxsize=4096)
def ceiling(expr: sympy.Expr) -> sympy.Expr:
    """A positive expression rounded up: what is whole of it as it is, the rest within a ceiling.

    SymPy would try besides to prove between which integers the rest lies.
    """
    parts: dict[bool, list[sympy.Expr]] = {True: [], False: []}
    for term in sympy.Add.make_args(expr):
        parts[bool(term.is_integer)].append(term)
    rest = sympy.Add(*parts[False])
    return sympy.Add(*parts[True], sympy.ceiling(rest, evaluate=rest.is_number))
