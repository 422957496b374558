"""`membill eval LAYER`: the closed form in numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import click
import sympy

from membill import registry, units
from membill.cli.output import Section, write, write_json
from membill.cli.per_layer import Choice, PerLayer, Request, formula_data
from membill.cli.values import assignment
from membill.errors import InputError
from membill.formula import Formula
from membill.layers import Layer
from membill.ledger import total
from membill.symbols import T, b, d
from membill.tables import Table

Values = Mapping[str, int]

TOKENS = (b, T)
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
    named = [f"{letter}={value}" for letter, value in letters.items() if value is not None]
    given = dict(map(assignment, [*named, *assignments]))
    values = {**_dimensions(request, model, given), **given}
    formulas = _formulas(request)
    needed = {name for formula in formulas.values() for name in formula.symbols}
    _check_complete(sorted(needed - values.keys()), model)
    related = needed | given.keys() | _mentioned(request.layer)
    values = {name: value for name, value in values.items() if name in related}
    sizes = [_size(label, formula, values) for label, formula in formulas.items()]
    used = {name: value for name, value in values.items() if name in needed}
    if json:
        figures = {size.label.replace(" ", "_"): _size_data(size) for size in sizes}
        write_json({**request.as_data(), "model": model, "values": used, "sizes": figures})
    else:
        listed = ", ".join(f"{name} = {value}" for name, value in used.items())
        where = f"{registry.shape(model).title}: {listed}" if model else listed
        write((request.layer.title, f"{request.described()}\n{where}"), _sections(sizes))


def _sections(sizes: Iterable[Size]) -> list[Section]:
    names = ("", "exact", "in GB (10⁹ B)", "in GiB (2³⁰ B)", "per token", "per token, in d")
    headers, *rows = zip(names, *((size.label, *_cells(size)) for size in sizes), strict=True)
    formulas = tuple((size.label, f"{size.formula} {size.formula.unit}") for size in sizes)
    table = Table(headers, tuple(row for row in rows if any(row[1:])))
    return [Section("closed form", formulas), Section("", table)]


def _cells(size: Size) -> tuple[str, ...]:
    return (
        units.exact(size.bytes),
        units.gb(size.bytes),
        units.gib(size.bytes),
        "" if size.per_token is None else f"{_rounded(size.per_token)} B",
        "" if size.in_d is None else f"{_rounded(size.in_d)}d",
    )


def _rounded(value: Fraction) -> str:
    return units.decimal(value, 0 if value.denominator == 1 else 2)


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
    ledger = request.ledger()
    found = {"one layer": ledger.total()}
    bare = ledger.without_statistics().total()
    if bare.expr != ledger.total().expr:
        found["without statistics"] = bare
    if ledger.tables:
        found[SHARED] = total(row.bytes for row in ledger.tables)
    return found


def _dimensions(request: Request, model: str | None, given: Values) -> Values:
    """The model's dimensions, less those that the layer derives from one that is overridden."""
    if model is None:
        return {}
    derived = {
        str(symbol)
        for symbol, value in request.layer.definitions
        if request.specialise and given.keys() & {str(free) for free in value.free_symbols}
    }
    return {name: size for name, size in registry.shape(model).items() if name not in derived}


def _mentioned(layer: Layer) -> set[str]:
    """Names of the symbols that the layer defines, and of those that it defines them by."""
    found = {free for pair in layer.definitions for part in pair for free in part.free_symbols}
    return {str(symbol) for symbol in found}


def _check_complete(missing: list[str], model: str | None) -> None:
    if not missing:
        return
    letters = [f"-{name} ..." for name in missing if name in map(str, TOKENS)]
    dims = [f"--set {name}=..." for name in missing if name not in map(str, TOKENS)]
    ways = " ".join([*letters, *dims])
    hint = " (or --model NAME for a model's dimensions)" if dims and model is None else ""
    raise InputError(f"no value for {', '.join(missing)}: give {ways}{hint}")


def _options() -> list[click.Option]:
    return [
        click.Option(
            ["--model"],
            type=Choice(registry.known().shapes),
            metavar="NAME",
            help=f"Take the dimensions of a model: {', '.join(registry.known().shapes)}.",
        ),
        click.Option(["-b", "b"], metavar="INTEGER", help="Sequences in a micro-batch."),
        click.Option(["-T", "T"], metavar="INTEGER", help="Tokens in a sequence."),
        click.Option(
            ["--set", "assignments"],
            multiple=True,
            metavar="NAME=VALUE",
            help="Give or override a dimension, such as d=4096. May be repeated.",
        ),
        click.Option(["--json"], is_flag=True, help="Print everything as JSON."),
    ]


evaluate = PerLayer(
    "eval", _evaluate, _options, help="Show what a layer keeps for backward, in numbers."
)
