"""Values for the letters of a formula: a model's dimensions, `-b`, `-T` and `--set`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import click

from membill import registry
from membill.cli.per_layer import Choice
from membill.cli.request import Request
from membill.cli.values import assignment
from membill.errors import InputError
from membill.symbols import T, b

Values = Mapping[str, int]

TOKENS = (b, T)


def dimension_options() -> list[click.Option]:
    """`--model`, `-b`, `-T`, `--set`; what they are given goes to `values`."""
    return [
        click.Option(
            ["--model"],
            type=Choice(registry.known().shapes),
            metavar="NAME",
            help=f"Take the dimensions of a model: {', '.join(registry.known().shapes)}.",
        ),
        *letter_options(),
    ]


def letter_options() -> list[click.Option]:
    """`-b`, `-T`, `--set`; what they are given goes to `given`."""
    return [
        click.Option(["-b", "b"], metavar="INTEGER", help="Sequences in a micro-batch."),
        click.Option(["-T", "T"], metavar="INTEGER", help="Tokens in a sequence."),
        click.Option(
            ["--set", "assignments"],
            multiple=True,
            metavar="NAME=VALUE",
            help="Give or override a dimension, such as d=4096. May be repeated.",
        ),
    ]


def values(
    request: Request,
    model: str | None,
    assignments: Sequence[str],
    letters: Mapping[str, str | None],
) -> tuple[Values, Values]:
    """All values by symbol name, and those of them that were given beside the model.

    letters: options named after a symbol. Dimensions that the layer derives from one that is
    overridden are left out.
    """
    own = given(assignments, letters)
    return {**_dimensions(request, model, own), **own}, own


def given(assignments: Sequence[str], letters: Mapping[str, str | None]) -> Values:
    """What `--set` and options named after a symbol give, by symbol name."""
    named = [f"{letter}={value}" for letter, value in letters.items() if value is not None]
    return dict(map(assignment, [*named, *assignments]))


def _dimensions(request: Request, model: str | None, own: Values) -> Values:
    """The model's dimensions, less those that the layer derives from one that is overridden."""
    if model is None:
        return {}
    derived = {
        str(symbol)
        for symbol, value in request.layer.definitions
        if request.specialise and own.keys() & {str(free) for free in value.free_symbols}
    }
    return {name: size for name, size in registry.shape(model).items() if name not in derived}


def related(request: Request, values: Values, named: Iterable[str]) -> Values:
    """Those values that have a name in `named`, or that definitions and conditions speak of."""
    defined = {
        str(free)
        for pair in request.layer.definitions
        for part in pair
        for free in part.free_symbols
    }
    must_divide = {
        str(free)
        for row in request.ledger.entries
        for condition in row.bytes.conditions
        for free in condition.divisor.free_symbols | condition.dividend.free_symbols
    }
    names = {*named, *defined, *must_divide}
    return {name: value for name, value in values.items() if name in names}


def check_complete(needed: Iterable[str], values: Values, model: str | None) -> None:
    """InputError that says how to give what has no value yet."""
    missing = sorted(set(needed) - values.keys())
    if not missing:
        return
    letters = [f"-{name} ..." for name in missing if name in map(str, TOKENS)]
    dims = [f"--set {name}=..." for name in missing if name not in map(str, TOKENS)]
    ways = " ".join([*letters, *dims])
    hint = " (or --model NAME for a model's dimensions)" if dims and model is None else ""
    raise InputError(f"no value for {', '.join(missing)}: give {ways}{hint}")


def check_shares(request: Request, values: Values) -> None:
    """InputError where the plan cannot divide a weight of the layer at these values."""
    for row in request.ledger.weights:
        if values.keys() >= set(row.bytes.symbols):
            row.bytes(**values)


def where(model: str | None, used: Values) -> str:
    """`GPT-3 175B: d = 12288, b = 1`: a line that says which values are in use."""
    listed = ", ".join(f"{name} = {value}" for name, value in used.items())
    return f"{registry.shape(model).title}: {listed}" if model else listed
