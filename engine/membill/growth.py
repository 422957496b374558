"""How a formula grows: which terms dominate, what one more costs, where squares take over."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import sympy

from membill import algebra
from membill.errors import InputError
from membill.formula import Formula, counted
from membill.layers import Layer
from membill.models import Model
from membill.plans import Plan
from membill.symbols import T, info, named
from membill.tensor import count


@dataclass(frozen=True)
class Term:
    """A term of a formula at some values: its size, which may be a fraction, and its share."""

    expr: sympy.Expr
    size: Fraction
    share: Fraction


def dominant(formula: Formula, **values: Any) -> tuple[Term, ...]:
    """The terms of a formula, the largest first, at integer values for its letters.

    Errors as in calling the formula.
    """
    whole = int(formula(**values))
    numbers = {
        named(name).symbol: sympy.Integer(counted(name, size)) for name, size in values.items()
    }
    sizes = {term: _fraction(term.xreplace(numbers)) for term in formula.expr.as_ordered_terms()}
    ordered = sorted(sizes.items(), key=lambda item: -item[1])
    return tuple(Term(term, size, size / whole) for term, size in ordered)


def _fraction(number: sympy.Expr) -> Fraction:
    return Fraction(int(number.p), int(number.q))


def increase(formula: Formula, letter: sympy.Symbol, by: int | sympy.Expr = 1) -> Formula:
    """What `by` more of a letter costs: the formula there less the formula here, exactly.

    Both must satisfy the conditions, so that with t | T a sequence grows by t tokens.
    """
    name = str(info(letter).symbol)
    step = count(by, "by", "how many more")
    more = {letter: letter + step}
    if any(letter in (symbol, *given.free_symbols) for symbol, given in formula.definitions):
        raise InputError(
            f"{name} is in what the formula has put in for other letters: one more of it is "
            "another model"
        )
    there = formula.expr.xreplace(more)
    conditions = dict.fromkeys(
        (*formula.conditions, *(each.xreplace(more) for each in formula.conditions))
    )
    return replace(formula, expr=there - formula.expr, conditions=tuple(conditions))


def crossover(subject: Layer | Model, plan: Plan | None = None, **settings: Any) -> sympy.Expr:
    """The sequence length at which the terms in T² are as large as all others.

    Of what a layer or model keeps for backward, without per-token statistics; settings as in its
    `activations`. Raises InputError if nothing is kept that grows with T².
    """
    kept = subject.activations(plan, **{"statistics": False, **settings})
    square, slope, rest = (kept.expr.coeff(T, power) for power in (2, 1, 0))
    if square == 0 or kept.expr.coeff(T, 3) != 0:
        raise InputError(f"{subject.name}: nothing that is kept grows with T², but {kept}")
    if rest == 0:
        return _over(slope, square)
    return (slope + sympy.sqrt(slope**2 + 4 * square * rest)) / (2 * square)


def _over(slope: sympy.Expr, square: sympy.Expr) -> sympy.Expr:
    """The reduced fraction; term by term where that suffices, as SymPy takes long over sums."""
    if square.is_Add:
        return sympy.cancel(slope / square)
    terms = (term / square for term in sympy.Add.make_args(slope))
    above, below = algebra.quotient(sympy.Add(*terms))
    return above / below


def exceeds_from(
    one: Formula, other: Formula, letter: str, *, low: int, high: int, **values: int
) -> int | None:
    """The least whole number for a letter from which one formula exceeds the other.

    Found by halving what lies from `low` to `high`, so that between these the one must not fall
    behind again; None if it does not exceed the other at `high`. values: for all other letters.
    Raises InputError as in calling a formula, if the units differ, or if `low` exceeds `high`.
    """
    checked(low=low, high=high)
    if one.unit != other.unit:
        raise InputError(f"cannot compare {one.unit} with {other.unit}")
    if low > high:
        raise InputError(f"low = {low} exceeds high = {high}")

    def exceeds(number: int) -> bool:
        at = {**values, letter: number}
        return bool(one(**at) > other(**at))

    return low + bisect_left(range(low, high), True, key=exceeds) if exceeds(high) else None


def accumulation_steps(tokens: int, *, b: int, T: int, replicas: int = 1) -> int:
    """Micro-batches of b sequences of T tokens that each replica runs for a batch of `tokens`.

    The last ones may be partly empty. Raises InputError unless each is an integer > 0.
    """
    checked(tokens=tokens, b=b, T=T, replicas=replicas)
    return -(-tokens // (b * T * replicas))


def checked(**counts: object) -> dict[str, int]:
    """The counts by name; InputError unless each is an integer > 0."""
    for name, value in counts.items():
        if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
            raise InputError(f"{name} = {value!r}: give how many, an integer > 0")
    return cast(dict[str, int], counts)
