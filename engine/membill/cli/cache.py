"""`membill cache MODEL`: what inference keeps of the tokens so far, and how many sequences fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import click

from membill import printer, registry, units
from membill.cache import Cache, CacheBill, CacheRow
from membill.cli.dimensions import check_complete, given, letter_options
from membill.cli.facts import needs
from membill.cli.output import Fact, Section, write, write_json
from membill.cli.per_layer import Choice
from membill.cli.request import formula_data
from membill.cli.values import count, symbol_or_count
from membill.errors import InputError
from membill.finding import model
from membill.formats import Format
from membill.formula import Formula
from membill.mesh import Axis
from membill.serving import Served, served
from membill.symbols import T, b
from membill.tables import Table, shape_text

OPTIONS = ("dtype", "kind", "block")


class Command(click.Command):
    """A command with an option for every axis of a mesh that the spec packages declare."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The command's own parameters, a model's letters, and the axes."""
        return [*super().get_params(ctx), *letter_options(), *_options(), *map(_axis, _axes())]


def _axes() -> tuple[Axis, ...]:
    return tuple(registry.everything(Axis).values())


def _axis(axis: Axis) -> click.Option:
    flag = f"--{axis.name.replace('_', '-')}"
    return click.Option([axis.name, flag], metavar="DEGREE|SYMBOL", help=axis.summary)


def _options() -> Iterator[click.Option]:
    kinds, formats = registry.everything(Cache), registry.everything(Format)
    yield click.Option(
        ["--dtype"],
        type=Choice(formats),
        metavar="NAME",
        help=f"The format of its entries, 16 bits unless told: {', '.join(formats)}.",
    )
    yield click.Option(
        ["--kind"],
        type=Choice(kinds),
        metavar="NAME",
        help=f"In the place of each kind that grows with the sequence: {', '.join(kinds)}.",
    )
    yield click.Option(
        ["--block"], metavar="INTEGER", help="Tokens in a block of a paged allocation."
    )
    yield click.Option(
        ["--memory"],
        metavar="SIZE",
        help="Memory of a device, such as 80GB or 80GiB: say how many sequences fit.",
    )
    yield click.Option(
        ["--weights"],
        type=Choice(formats),
        metavar="NAME",
        help=f"With --memory, the format of the weights: {', '.join(formats)}.",
    )


@click.command(cls=Command)
@click.argument("name", metavar="MODEL")
@click.option("--json", is_flag=True, help="Print everything as JSON.")
def command(name: str, json: bool, **options: Any) -> None:
    """Show what inference keeps of the tokens that sequences have so far.

    MODEL is one of those that `membill list` names, or the path of a Hugging Face config.json.
    Sizes are those of one device.
    """
    asked = {key: options.pop(key) for key in OPTIONS}
    memory, weights = options.pop("memory"), options.pop("weights")
    if asked["block"] is not None:
        asked["block"] = count("--block", asked["block"])
    mesh = {axis.name: options.pop(axis.name) for axis in _axes()}
    degrees = {
        axis: symbol_or_count(f"--{axis}", degree) for axis, degree in mesh.items() if degree
    }
    every: dict[str, Any] = {**given(options.pop("assignments"), options), **asked, **degrees}
    bill = model(name).cache(**every)
    fit = _served(bill, memory, weights)
    settings = {**asked, **degrees, "memory": memory, "weights": weights}
    said = {key: str(value) for key, value in settings.items() if value is not None}
    if json:
        write_json({"model": name, "settings": said, **_as_data(bill, fit)})
        return
    used = {symbol for size in _sizes(bill).values() for symbol in size.symbols}
    where = ", ".join(f"{key} = {value}" for key, value in bill.values.items() if key in used)
    heading = " ".join([name, *(f"{key}={value}" for key, value in said.items())])
    if not bill.rows:
        write((bill.model.title, heading), [Section("", (("cache", "no layer keeps anything"),))])
        return
    sections = [Section("layers", _layers(bill)), Section("on one device", _table(bill))]
    if fit is not None:
        sections.append(Section("sequences that fit", _fit(fit)))
    sections.append(Section("", needs(_sizes(bill).values())))
    write(
        (bill.model.title, "\n".join(filter(None, (heading, where)))),
        [section for section in sections if section.body],
    )


def _served(bill: CacheBill, memory: str | None, weights: str | None) -> Served | None:
    if memory is None:
        if weights is not None:
            raise InputError(f"--weights {weights} says nothing by itself: give --memory with it")
        return None
    size = units.size(memory, "--memory")
    check_complete(bill.sequence.symbols, bill.values, bill.model.name)
    return served(bill, size, *filter(None, [weights]))


def _sizes(bill: CacheBill) -> Mapping[str, Formula]:
    """The sums of a bill, by what they are sums of."""
    if bill.windows:
        full = f"{T} = {', '.join(map(printer.text, bill.windows))}"
        tokens = {f"a token, up to {full}": bill.token, "a token beyond": bill.token_beyond}
    else:
        tokens = {"a token": bill.token}
    every = {"a sequence": bill.total.subs({b: 1}), "all sequences": bill.total}
    if bill.block is None:
        return {**tokens, **every}
    paged = {
        "allocated for a sequence": bill.sequence,
        "allocated for all": bill.allocated,
        "of that, holding nothing": bill.waste,
        "at most so, for a sequence": bill.worst_waste,
    }
    return {**tokens, **every, **paged}


def _layers(bill: CacheBill) -> Table:
    headers = ("layer", "cache", "layers", "one keeps", "bytes")
    return Table(headers, tuple(_row(bill, row) for row in bill.rows))


def _row(bill: CacheBill, row: CacheRow) -> tuple[str, ...]:
    tensors = ", ".join(f"{name} {shape_text(shape)}" for name, shape in row.shapes.items())
    letters = row.number.free_symbols
    number = row.number.subs({each: bill.values.get(each.name, each) for each in letters})
    return (row.layer, row.cache.name, printer.text(number), tensors, str(row.bytes))


def _table(bill: CacheBill) -> Table:
    rows = tuple((name, str(size), *_numbers(bill, size)) for name, size in _sizes(bill).items())
    table = Table(("what", "bytes", "exact", "in GB (10⁹ B)", "in GiB (2³⁰ B)"), rows)
    if any(cell for row in rows for cell in row[2:]):
        return table
    return Table(table.headers[:2], tuple(row[:2] for row in rows))


def _complete(bill: CacheBill, size: Formula) -> bool:
    return bill.values.keys() >= set(size.symbols)


def _numbers(bill: CacheBill, size: Formula) -> tuple[str, ...]:
    if not _complete(bill, size):
        return ("", "", "")
    return _written(bill.size(size))


def _written(number: int) -> tuple[str, str, str]:
    """In bytes; a megabyte and more in GB and GiB too."""
    large = number >= units.UNITS["MB"]
    return units.exact(number), *((units.gb(number), units.gib(number)) if large else ("", ""))


def _fit(fit: Served) -> tuple[Fact, ...]:
    sizes = {
        "memory": fit.memory,
        "weights": fit.weights,
        "left for the cache": fit.free,
        "a sequence": fit.sequence,
    }
    written = ((name, ", ".join(filter(None, _written(size)))) for name, size in sizes.items())
    return (*written, ("sequences", f"{fit.sequences:,}"))


def _as_data(bill: CacheBill, fit: Served | None) -> dict[str, Any]:
    names = ("token", "token_beyond", "sequence", "total", "allocated", "waste", "worst_waste")
    return {
        "values": dict(bill.values),
        "layers": [
            {
                "layer": row.layer,
                "cache": row.cache.name,
                "number": printer.text(row.number),
                "tensors": {name: shape_text(shape) for name, shape in row.shapes.items()},
                **_sized(bill, row.bytes),
            }
            for row in bill.rows
        ],
        "sizes": {name: _sized(bill, getattr(bill, name)) for name in names},
        "fit": fit and {**asdict(fit), "free": fit.free, "sequences": fit.sequences},
    }


def _sized(bill: CacheBill, size: Formula) -> dict[str, Any]:
    number = bill.size(size) if _complete(bill, size) else None
    return {"formula": formula_data(size), "bytes": number}
