"""`membill frontier LAYER`: what to drop first, and what it costs to make it again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import click

from membill import units
from membill.cli.dimensions import (
    check_complete,
    dimension_options,
    related,
    values,
    where,
)
from membill.cli.output import Section, write, write_json
from membill.cli.per_layer import PerLayer
from membill.cli.request import Request
from membill.cli.settings import json_option
from membill.frontier import Step, frontier
from membill.tables import Table


def _frontier(
    request: Request, *, model: str | None, assignments: tuple[str, ...], json: bool, **letters: Any
) -> None:
    every, given = values(request, model, assignments, letters)
    layer = request.layer
    needed = {*layer.activations().symbols, *layer.price().step.symbols}
    check_complete(needed, every, model)
    known = related(request, every, needed | given.keys())
    steps = frontier(layer, known)
    used = {name: value for name, value in known.items() if name in needed}
    if json:
        data = {**request.as_data(), "model": model, "values": used}
        write_json({**data, "frontier": [_step_data(step) for step in steps]})
    else:
        heading = f"{request.described()}\n{where(model, used)}"
        write((layer.title, heading), [_section(steps)])


def _section(steps: Iterable[Step]) -> Section:
    """One row a step; the first drops nothing."""
    headers = ("dropped as well", "kept", "in GB (10⁹ B)", "saved", "FLOPs run again, of a step")
    first, *_ = rows = tuple(steps)
    start = ("", units.exact(first.kept), units.gb(first.kept), "", _price(first))
    title = "recompute frontier: the result worth most bytes per FLOP goes first"
    return Section(title, Table(headers, (start, *_later(rows))))


def _later(steps: Iterable[Step]) -> Iterator[tuple[str, ...]]:
    for before, step in pairwise(steps):
        saved = units.exact(before.kept - step.kept)
        yield step.path, units.exact(step.kept), units.gb(step.kept), saved, _price(step)


def _price(step: Step) -> str:
    return units.percent(step.price, places=1)


def _step_data(step: Step) -> dict[str, Any]:
    return {"dropped": step.path or None, "kept_bytes": step.kept, "price": str(step.price)}


def _options() -> list[click.Option]:
    return [
        *dimension_options(),
        json_option(),
    ]


command = PerLayer(
    "frontier",
    _frontier,
    _options,
    help="Show what to recompute first: most bytes for the FLOPs of making it again.",
    planned=False,
)
