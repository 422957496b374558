"""`membill bill MODEL`: what one device holds of a whole model under a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import click

from membill.bill import Bill
from membill.cli.bill_tables import UNITS, known, sections
from membill.cli.dimensions import Values, given, letter_options
from membill.cli.output import write, write_json
from membill.cli.peak_table import peak_data, peak_sections
from membill.cli.per_layer import Choice
from membill.cli.per_model import PerModel
from membill.cli.request import ModelRequest, formula_data
from membill.cli.settings import json_option, run_options, run_settings
from membill.errors import InputError, unknown
from membill.formula import Formula

EVERY = "all"


def _bill(
    request: ModelRequest,
    *,
    stage: str | None,
    unit: str | None,
    margin: str | None,
    assignments: tuple[str, ...],
    json: bool,
    **more: Any,
) -> None:
    run = run_settings(more)
    letters = given(assignments, more)
    asked = replace(request, run={**request.run, **run})
    found = _stages(asked, letters, _index(stage), _margin(margin))
    fullest = _fullest(found)
    if json:
        write_json({**asked.as_data(), **_as_data(fullest, found)})
        return
    if unit is not None and unit not in UNITS:
        raise unknown("unit", unit, UNITS)
    columns = UNITS if unit is None else {unit: UNITS[unit]}
    tables = sections(fullest, found, columns, peak_sections(fullest, columns))
    write((request.model.title, _heading(asked, fullest)), tables)


def _stages(
    request: ModelRequest, letters: Values, stage: int | None, margin: Fraction | None
) -> tuple[Bill, ...]:
    """The bill of the stage that is asked for, or of each if they can be told apart."""
    settings = {**letters, **request.run, **request.counting, "margin": margin}
    split = request.run.get("schedule") and isinstance(request.run.get("pp"), int)
    if stage is None and split:
        return request.model.stages(**settings)
    return (request.model.bill(stage=stage or 0, **settings),)


def _fullest(found: Sequence[Bill]) -> Bill:
    """The bill of most bytes, the first of equals; the first if letters have no values."""
    if all(known(bill, bill.total) for bill in found):
        return max(found, key=lambda bill: bill.bytes)
    return found[0]


def _index(text: str | None) -> int | None:
    if text is None or text == EVERY:
        return None
    if not (text.isascii() and text.isdigit()):
        raise InputError(f"--stage {text}: give the number of a stage, counted from 0, or {EVERY}")
    return int(text)


def _margin(text: str | None) -> Fraction | None:
    if text is None:
        return None
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise InputError(f"--margin {text}: give a share, such as 0.1") from None


def _heading(request: ModelRequest, bill: Bill) -> str:
    """What was asked for, and the values in use."""
    named = replace(request, run={"recipe": bill.recipe.name, **request.run})
    used = {name: bill.values[name] for name in bill.total.symbols if name in bill.values}
    return "\n".join(filter(None, (named.described(), ", ".join(map(_equals, used.items())))))


def _equals(item: tuple[str, int]) -> str:
    return "{} = {}".format(*item)


def _as_data(bill: Bill, found: Sequence[Bill]) -> dict[str, Any]:
    return {
        "recipe": bill.recipe.name,
        "values": dict(bill.values),
        "stage": bill.stage,
        "entries": [
            {
                "category": entry.category,
                "part": entry.part,
                "offloaded": entry.moved.name if entry.moved else None,
                **_sized(bill, entry.bytes),
            }
            for entry in bill.entries
        ],
        "categories": {name: _sized(bill, size) for name, size in bill.categories.items()},
        "total": _sized(bill, bill.total),
        "margin": None if bill.margin is None else str(bill.margin),
        "with_margin": bill.bytes if known(bill, bill.total) else None,
        "peak": peak_data(bill),
        "parameters": _sized(bill, bill.parameters),
        "moved": {
            movement.name: {"out": _sized(bill, moved.out), "in": _sized(bill, moved.into)}
            for movement, moved in bill.moved
        },
        "stages": [{"stage": each.stage, "total": _sized(each, each.total)} for each in found],
        "conditions": [str(condition) for condition in bill.total.conditions],
        "left_out": list(bill.left_out),
    }


def _sized(bill: Bill, size: Formula) -> dict[str, Any]:
    number = bill.size(size) if known(bill, size) else None
    return {"formula": formula_data(size), size.unit: number}


def _options() -> list[click.Option]:
    return [
        *letter_options(),
        *run_options(),
        click.Option(
            ["--stage"],
            metavar=f"INTEGER|{EVERY}",
            help="Which stage of a pipeline, counted from 0; the one that holds most unless told.",
        ),
        click.Option(
            ["--margin"],
            metavar="SHARE",
            help="Add this share for fragmentation, from 0.1 to 0.2; shown by itself.",
        ),
        click.Option(
            ["--unit"], type=Choice(UNITS), metavar="|".join(UNITS), help="Sizes in this unit only."
        ),
        json_option(),
    ]


command = PerModel(
    "bill",
    _bill,
    _options,
    help="Show what one device holds of a whole model under a plan, by category and part.",
)
