"""`membill eval LAYER`: the closed form in numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import click
import sympy

from membill import units
from membill.cli.dimensions import (
    TOKENS,
    Values,
    check_complete,
    check_shares,
    dimension_options,
    related,
    values,
    where,
)
from membill.cli.facts import held, needs, on_device, price_data, run_again
from membill.cli.output import Fact, Section, write, write_json
from membill.cli.per_layer import PerLayer
from membill.cli.request import Request, formula_data
from membill.cli.settings import json_option
from membill.formula import Formula
from membill.ledger import total
from membill.symbols import d
from membill.tables import Table

SHARED = "once for the model"


@dataclass(frozen=True)
class Size:
    """What a formula comes to: exact bytes, and exact quotients of them.

    per_token: bytes for each of the b·T tokens; in_d: that in units of the model's width. Each is
    None where a letter that it divides by has no value, and for what all layers share.
    """

    label: str
    formula: Formula
    bytes: int
    per_token: Fraction | None
    in_d: Fraction | None


def _size(label: str, formula: Formula, values: Values) -> Size:
    exact = int(formula(**values))
    if label == SHARED:
        return Size(label, formula, exact, None, None)
    return Size(
        label, formula, exact, _over(exact, TOKENS, values), _over(exact, (*TOKENS, d), values)
    )


def _over(size: int, letters: Iterable[sympy.Symbol], values: Values) -> Fraction | None:
    quotient = Fraction(size)
    for letter in letters:
        if str(letter) not in values:
            return None
        quotient /= values[str(letter)]
    return quotient


def _evaluate(
    request: Request, *, model: str | None, assignments: tuple[str, ...], json: bool, **letters: Any
) -> None:
    every, given = values(request, model, assignments, letters)
    formulas = _formulas(request)
    needed = {name for formula in formulas.values() for name in formula.symbols}
    check_complete(needed, every, model)
    known = related(request, every, needed | given.keys())
    check_shares(request, known)
    sizes = [_size(label, formula, known) for label, formula in formulas.items()]
    used = {name: value for name, value in known.items() if name in needed}
    if json:
        figures = {size.label.replace(" ", "_"): _size_data(size) for size in sizes}
        data = {**request.as_data(), "model": model, "values": used, "sizes": figures}
        write_json({**data, "price": price_data(request, known)})
    else:
        heading = f"{request.described()}\n{where(model, used)}"
        write((request.layer.title, heading), _sections(request, sizes, known))


def _sections(request: Request, sizes: Sequence[Size], values: Values) -> list[Section]:
    names = ("", "exact", "in GB (10⁹ B)", "in GiB (2³⁰ B)", "per token", "per token, in d")
    headers, *rows = zip(names, *((size.label, *_cells(size)) for size in sizes), strict=True)
    formulas = tuple((size.label, held(size.formula, request)) for size in sizes)
    table = Table(headers, tuple(row for row in rows if any(row[1:])))
    conditions = needs([*(size.formula for size in sizes), request.ledger.parameters()])
    facts = (*formulas, *_parameters(request, values), *conditions, *run_again(request, values))
    return [Section("closed form", facts), Section("", table)]


def _parameters(request: Request, values: Values) -> tuple[Fact, ...]:
    """One device's part of the parameters, where the plan divides them."""
    if not request.mesh:
        return ()
    formula = request.ledger.parameters()
    number = f": {formula(**values):,}" if values.keys() >= set(formula.symbols) else ""
    return (("parameters", f"{formula}{on_device(request)}{number}"),)


def _cells(size: Size) -> tuple[str, ...]:
    return (
        units.exact(size.bytes),
        units.gb(size.bytes),
        units.gib(size.bytes),
        "" if size.per_token is None else f"{_rounded(size.per_token)} B",
        "" if size.in_d is None else f"{_rounded(size.in_d)}d",
    )


def _rounded(value: Fraction) -> str:
    return units.decimal(value, 2).removesuffix(".00")


def _size_data(size: Size) -> dict[str, Any]:
    """For JSON: the count as an int, quotients as exact fractions in text."""
    return {
        "formula": formula_data(size.formula),
        "bytes": size.bytes,
        "GB": units.gb(size.bytes),
        "GiB": units.gib(size.bytes),
        "bytes_per_token": None if size.per_token is None else str(size.per_token),
        "bytes_per_token_in_d": None if size.in_d is None else str(size.in_d),
    }


def _formulas(request: Request) -> dict[str, Formula]:
    """What to evaluate: what one layer keeps, with statistics and without, and what all share."""
    ledger = request.ledger
    found = {"one layer": ledger.total()}
    bare = ledger.without_statistics().total()
    if bare.expr != ledger.total().expr:
        found["without statistics"] = bare
    if ledger.tables:
        found[SHARED] = total(row.bytes for row in ledger.tables)
    return found


def _options() -> list[click.Option]:
    return [
        *dimension_options(),
        json_option(),
    ]


evaluate = PerLayer(
    "eval", _evaluate, _options, help="Show what a layer keeps for backward, in numbers."
)
