"""`membill device LAYER`: what one device holds of a stack of layers under a plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from membill import registry, units
from membill.cli.dimensions import Values, dimension_options, related, values, where
from membill.cli.facts import needs
from membill.cli.output import Section, write, write_json
from membill.cli.per_layer import Choice, PerLayer
from membill.cli.pipeline import schedule_options
from membill.cli.request import Request, formula_data
from membill.cli.states import partition_option, partition_stage
from membill.cli.values import symbol_or_count
from membill.devices import Device, device
from membill.errors import InputError
from membill.formula import Formula
from membill.offload import Link, Movement
from membill.plans import LETTERS
from membill.recipe import Partition, Recipe
from membill.symbols import L
from membill.tables import Table


def _device(
    request: Request,
    *,
    recipe: str | None,
    dp: str | None,
    schedule: str | None,
    stage: str,
    offload: tuple[str, ...],
    link: str | None,
    model: str | None,
    assignments: tuple[str, ...],
    json: bool,
    **more: Any,
) -> None:
    partitions = {name: more.pop(name) for name in registry.everything(Partition)}
    every, _ = values(request, model, assignments, more)
    named: dict[str, Any] = {
        "recipe": recipe,
        "schedule": schedule,
        "link": link,
        "dp": None if dp is None else symbol_or_count("--dp", dp),
        **{n: s if s is None else partition_stage(n, s) for n, s in partitions.items()},
        **{name: every.get(str(letter)) for name, letter in LETTERS.items()},
    }
    found = device(
        request.layer,
        layers=every.get(str(L), L),
        index=_index(stage),
        specialise=request.specialise,
        statistics=request.statistics,
        precision=request.precision,
        recompute=request.recompute,
        dtype_bytes=request.dtype_bytes,
        offload=[name.strip() for each in offload for name in each.split(",")],
        **request.mesh,
        **{name: value for name, value in named.items() if value is not None},
    )
    known = related(request, every, {name for _, size in _bills(found) for name in size.symbols})
    if json:
        write_json({**request.as_data(), "values": dict(known), **_as_data(found, known)})
        return
    heading = (request.described(), where(model, known))
    sections = [Section("on one device", _table(found, known))]
    if found.moved:
        sections.append(Section("moved each step", _traffic(found, known, link)))
    sections.append(Section("", needs(size for _, size in _bills(found))))
    write((request.layer.title, "\n".join(filter(None, heading))), [s for s in sections if s.body])


def _index(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise InputError(f"--stage {text}: give the number of a stage, counted from 0")
    return int(text)


def _bills(found: Device) -> tuple[tuple[str, Formula], ...]:
    return (*found.bills, ("in all, less what is offloaded", found.stays))


def _sizes(size: Formula, known: Values) -> tuple[str, ...]:
    if not known.keys() >= set(size.symbols):
        return ("", "", "")
    number = size(**known)
    return units.exact(number), units.gb(number), units.gib(number)


def _table(found: Device, known: Values) -> Table:
    rows = tuple((name, str(size), *_sizes(size, known)) for name, size in _bills(found))
    table = Table(("what", "bytes", "exact", "in GB (10⁹ B)", "in GiB (2³⁰ B)"), rows)
    if any(cell for row in rows for cell in row[2:]):
        return table
    return Table(table.headers[:2], tuple(row[:2] for row in rows))


def _traffic(found: Device, known: Values, link: str | None) -> Table:
    """Bytes out and in; on a link, the least seconds that they take."""
    rows = []
    for movement, traffic in found.moved:
        cells = [movement.name, str(traffic.out), str(traffic.into)]
        if link is not None:
            numbers = known.keys() >= {*traffic.out.symbols, *traffic.into.symbols}
            over = registry.find(Link, link)
            cells.append(f"{units.decimal(traffic.seconds(over, **known), 3)} s" if numbers else "")
        rows.append(tuple(cells))
    headers = ("offloaded", "bytes out", "bytes in")
    return Table((*headers, f"at least, on {link}") if link else headers, tuple(rows))


def _as_data(found: Device, known: Values) -> dict[str, Any]:
    def sized(size: Formula) -> Mapping[str, Any]:
        complete = known.keys() >= set(size.symbols)
        return {"formula": formula_data(size), "bytes": size(**known) if complete else None}

    return {
        "bills": {name: sized(size) for name, size in found.bills},
        "on_device": sized(found.stays),
        "moved": {
            movement.name: {"out": sized(traffic.out), "in": sized(traffic.into)}
            for movement, traffic in found.moved
        },
    }


def _options() -> list[click.Option]:
    recipes, links = registry.everything(Recipe), registry.everything(Link)
    movements = ", ".join(registry.everything(Movement))
    return [
        click.Option(
            ["--recipe"],
            type=Choice(recipes),
            metavar="NAME",
            help=f"What is kept of each parameter: {', '.join(recipes)}.",
        ),
        click.Option(
            ["--dp"], metavar="DEGREE|SYMBOL", help="Data-parallel devices that divide the states."
        ),
        *map(partition_option, registry.everything(Partition).values()),
        *schedule_options(),
        click.Option(
            ["--stage"],
            default="0",
            show_default=True,
            metavar="INTEGER",
            help="Which stage of the pipeline, counted from 0.",
        ),
        click.Option(
            ["--offload"],
            multiple=True,
            metavar="NAME,...",
            help=f"Keep these off the device: {movements}. May be repeated.",
        ),
        click.Option(
            ["--link"],
            type=Choice(links),
            metavar="NAME",
            help=f"What they are moved over: {', '.join(links)}.",
        ),
        *dimension_options(),
        click.Option(["--json"], is_flag=True, help="Print everything as JSON."),
    ]


command = PerLayer(
    "device",
    _device,
    _options,
    help="Show what one device holds of a stack of layers under a whole plan.",
)
