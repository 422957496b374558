"""What is said beside a formula: what must hold for it, and what recomputation costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import sympy

from membill import printer, units
from membill.cli.output import Fact
from membill.cli.request import Request, formula_data
from membill.formula import Formula


def held(formula: Formula, request: Request) -> str:
    """`34Tbd bytes`, and that it is one device's where the plan divides it."""
    return f"{formula} {formula.unit}{on_device(request)}"


def on_device(request: Request) -> str:
    """What to say behind a size under a plan that divides it."""
    return " on one device" if request.mesh else ""


def needs(formulas: Iterable[Formula]) -> tuple[Fact, ...]:
    """`t | h, t | 4d`: the conditions under which the formulas hold, if there are any."""
    found = dict.fromkeys(
        str(each)
        for formula in formulas
        for each in formula.conditions
        if not (each.divisor.is_number and each.dividend.is_number)
    )
    return (("needs", ", ".join(found)),) if found else ()


def run_again(request: Request, values: Mapping[str, int] | None = None) -> tuple[Fact, ...]:
    """What is run again in backward, and its part of a step: a formula, and at `values` a number.

    Nothing if the request recomputes nothing.
    """
    if request.recompute == "none":
        return ()
    price = request.price
    if price.rerun.expr == 0:
        return (("run again", "no matrix products"),)
    number = _percentage(request, values)
    cost = f"{price.rerun} {price.rerun.unit}, {quotient(price.ratio)} of a step without it"
    return (("run again", f"{cost}: {number}" if number else cost),)


def price_data(request: Request, values: Mapping[str, int] | None = None) -> dict[str, Any]:
    """The same for JSON; the ratio as text, exact."""
    price = request.price
    data = {
        "run_again": formula_data(price.rerun),
        "step": formula_data(price.step),
        "ratio": quotient(price.ratio),
    }
    exact = _ratio(request, values)
    return data if exact is None else {**data, "value": str(exact)}


def quotient(expr: sympy.Expr) -> str:
    """`(12d + 2T)/(36d + 7T)`: a quotient as one, where a sum would be written term by term."""
    above, below = (part.expand() for part in sympy.fraction(sympy.together(expr)))
    if below.is_number or not isinstance(above, sympy.Add):
        return printer.text(expr)
    return f"({printer.text(above)})/({printer.text(below)})"


def _ratio(request: Request, values: Mapping[str, int] | None) -> Fraction | None:
    price = request.price
    if values is None or not {*price.rerun.symbols, *price.step.symbols} <= values.keys():
        return None
    return Fraction(price.rerun(**values), price.step(**values))


def _percentage(request: Request, values: Mapping[str, int] | None) -> str:
    exact = _ratio(request, values)
    return "" if exact is None else units.percent(exact, places=1)
