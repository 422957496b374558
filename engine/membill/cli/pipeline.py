"""`membill pipeline LAYER`: what each stage of a pipeline holds, and which holds most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
import sympy

from membill import pipeline, printer, registry, units
from membill.cli.dimensions import Values, check_shares, dimension_options, related, values, where
from membill.cli.facts import held, needs
from membill.cli.output import Fact, Section, write, write_json
from membill.cli.per_layer import PerLayer
from membill.cli.request import Request, formula_data
from membill.cli.settings import json_option, schedule_options
from membill.cli.values import count
from membill.errors import InputError
from membill.formula import Formula
from membill.pipeline import Schedule, Stage, worst
from membill.symbols import L, m, p, v
from membill.tables import Table

MOST = 1000
"""More stages than any table is read to; each is a row."""


def _pipeline(
    request: Request,
    *,
    schedule: str | None,
    stages: str | None,
    model: str | None,
    assignments: tuple[str, ...],
    json: bool,
    **letters: Any,
) -> None:
    found = _schedule(schedule)
    every, given = values(request, model, assignments, letters)
    layer = request.ledger.total()
    split = None if stages is None else _split(stages)
    parts = _stages(found, layer, split, every)
    named = {*layer.symbols, *map(str, (L, m, p, v))}
    known = related(request, every, named | given.keys())
    check_shares(request, known)
    most = _most(parts, known)
    if json:
        data = {**request.as_data(), "schedule": found.name, "model": model, "values": dict(known)}
        marked = [{**_stage_data(part, known), "most": part is most} for part in parts]
        write_json({**data, "stages": marked})
    else:
        used = {name: value for name, value in known.items() if name in named}
        heading = [request.described(), found.title, where(model, used)]
        sections = [
            Section("closed form", _closed_forms(request, found, parts, even=split is None)),
            Section("stages", _table(parts, known, most)),
        ]
        write((request.layer.title, "\n".join(filter(None, heading))), sections)


def _schedule(name: str | None) -> Schedule:
    if name is None:
        known = ", ".join(registry.everything(Schedule))
        raise InputError(f"which schedule? Give --schedule with one of {known}")
    return registry.find(Schedule, name)


def _split(text: str) -> list[int]:
    return [
        count("--stages", part.strip(), "integers > 0, such as 1,2,2,3") for part in text.split(",")
    ]


def _stages(
    schedule: Schedule, layer: Formula, split: Sequence[int] | None, values: Values
) -> tuple[Stage, ...]:
    """Every stage if their number is known, else stage i; InputError where numbers disagree."""
    given = {symbol: values[str(symbol)] for symbol in (m, p, v) if str(symbol) in values}
    if split is not None:
        _check_split(split, values)
        given[p] = len(split)
    elif p in given:
        _check_even(given[p], values.get(str(L)))
    each = sympy.sympify(values.get(str(L), L)) / given.get(p, p)
    if p not in given:
        return (pipeline.stage(schedule, layer, layers=each, given=given),)
    return tuple(
        pipeline.stage(schedule, layer, index=index, layers=layers, given=given)
        for index, layers in enumerate(split or [each] * given[p])
    )


def _check_split(split: Sequence[int], values: Values) -> None:
    for symbol, found, what in ((p, len(split), "stages"), (L, sum(split), "layers")):
        wanted = values.get(str(symbol), found)
        if wanted != found:
            listed = ",".join(map(str, split))
            raise InputError(f"--stages {listed} has {found} {what}, but {symbol} = {wanted}")


def _check_even(number: int, layers: int | None) -> None:
    if number > MOST:
        raise InputError(f"p = {number}: at most {MOST} stages are listed")
    if layers is not None and layers % number:
        raise InputError(
            f"p = {number} does not divide L = {layers}: give --stages with the layers of each"
        )


def _most(parts: Sequence[Stage], known: Values) -> Stage | None:
    """The stage that holds most, the first of equals; None where that cannot be told."""
    if len(parts) == 1:
        return None
    if all(_evaluable(part, known) for part in parts):
        return worst(parts, **known)
    in_layers = [part.layers * part.in_flight for part in parts]
    if all(number.is_number for number in in_layers):
        return parts[in_layers.index(max(in_layers))]
    return None


def _evaluable(part: Stage, known: Values) -> bool:
    return known.keys() >= set(part.bytes.symbols)


def _closed_forms(
    request: Request, schedule: Schedule, parts: Sequence[Stage], even: bool
) -> tuple[Fact, ...]:
    layer = request.ledger.total()
    general = pipeline.stage(schedule, layer)
    return (
        ("one layer", held(layer, request)),
        ("in flight on stage i", f"{printer.text(general.in_flight)} micro-batches"),
        *((("stage i of p", held(general.bytes, request)),) if even else ()),
        *needs(part.bytes for part in parts),
    )


def _table(parts: Sequence[Stage], known: Values, most: Stage | None) -> Table:
    headers, cells = ["stage", "layers", "in flight", "bytes"], []
    numbers = all(_evaluable(part, known) for part in parts)
    for part in parts:
        row = [*map(printer.text, (part.index, part.layers, part.in_flight)), str(part.bytes)]
        if numbers:
            size = part.bytes(**known)
            row += [units.exact(size), units.gb(size), units.gib(size)]
        cells.append((*row, "holds most" if part is most else ""))
    headers += ["exact", "in GB (10⁹ B)", "in GiB (2³⁰ B)"] if numbers else []
    return Table((*headers, ""), tuple(cells))


def _stage_data(part: Stage, known: Values) -> dict[str, Any]:
    return {
        "index": printer.text(part.index),
        "layers": printer.text(part.layers),
        "in_flight": printer.text(part.in_flight),
        "formula": formula_data(part.bytes),
        "conditions": [str(condition) for condition in part.bytes.conditions],
        "bytes": part.bytes(**known) if _evaluable(part, known) else None,
    }


def _options() -> list[click.Option]:
    return [
        *schedule_options(),
        click.Option(
            ["--stages"],
            metavar="INTEGER,...",
            help="The layers of each stage, where they are uneven: 1,2,2,3.",
        ),
        *dimension_options(),
        json_option(),
    ]


command = PerLayer(
    "pipeline",
    _pipeline,
    _options,
    help="Show what each stage of a pipeline holds, and which holds most.",
)
