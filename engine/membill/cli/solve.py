"""`membill solve MODEL T|b|gpus|...`: the most or the least that fits."""

from __future__ import annotations

from typing import Any

import click

from membill import printer, registry, units
from membill.bounds import coefficients
from membill.cli.dimensions import given, letter_options
from membill.cli.facts import needs
from membill.cli.memory import busy, memory_options, memory_settings, plan_settings
from membill.cli.output import Fact, Section, write, write_json
from membill.cli.per_model import PerModel
from membill.cli.request import ModelRequest
from membill.cli.settings import json_option, run_options, run_settings
from membill.mesh import Axis
from membill.recipe import Partition
from membill.solve import GPUS, LETTERS, Solution, solve
from membill.tables import settings_text


def _solve(
    request: ModelRequest, *, asked: str, assignments: tuple[str, ...], json: bool, **more: Any
) -> None:
    room = memory_settings(more)
    run, letters = {**plan_settings(request), **run_settings(more)}, given(assignments, more)
    settings: dict[str, Any] = {**room, **run, **letters}
    with busy(f"looking for {asked}"):
        found = solve(request.model, asked, **settings)
    if json:
        write_json({**request.as_data(), "memory": room["memory"], **_data(found)})
        return
    size = f"{units.gb(room['memory'])} ({units.gib(room['memory'])})"
    about = settings_text({"model": request.model.name, **letters, **run})
    sections = [Section(_answer(found), _facts(found)), Section("closed form", _form(found))]
    write((request.model.title, f"{about}\nmemory {size}"), [s for s in sections if s.body])


def _answer(found: Solution) -> str:
    return (
        f"{found.name} = {found.value:,}" if found.bill else f"nothing fits, whatever {found.name}"
    )


def _facts(found: Solution) -> tuple[Fact, ...]:
    """What is needed at the fullest moment, which that is, and what is left or missing."""
    if found.left is None or found.needed is None:
        return (("missing", "no number of devices is enough"),)
    moment = (("fullest", found.at),) if found.at else ()
    if found.bill is None:
        return (("missing", _size(-found.left)), *moment)
    told = () if found.offer is None else (("plan", settings_text(found.offer.settings)),)
    return (*told, ("needed", _size(found.needed)), *moment, ("left", _size(found.left)))


def _size(size: int) -> str:
    return f"{units.exact(size)}, {units.gb(size)}, {units.gib(size)}"


def _form(found: Solution) -> tuple[Fact, ...]:
    """The letter by the coefficients of what is needed at that moment; M is the memory."""
    three = None if found.size is None else coefficients(found.size, LETTERS[found.name])
    if found.size is None or three is None:
        return ()
    root = "(√(B² + 4·A·(M - C)) - B)/(2·A)" if three[0] != 0 else "(M - C)/B"
    named = [(name, printer.text(each)) for name, each in zip("ABC", three, strict=True) if each]
    return ((found.name, f"⌊{root}⌋"), *named, *needs([found.size]))


def _data(found: Solution) -> dict[str, Any]:
    return {
        "asked": found.name,
        "value": found.value,
        "bytes": found.needed if found.bill else None,
        "at": found.at or None,
        "left": found.left,
        "closed_form": None if found.form is None else str(found.form),
    }


def _options() -> list[click.Parameter]:
    names = "|".join([*LETTERS, GPUS, *registry.everything(Partition), *registry.everything(Axis)])
    return [
        click.Argument(["asked"], metavar=names),
        *memory_options(),
        *letter_options(),
        *run_options(),
        json_option(),
    ]


command = PerModel(
    "solve",
    _solve,
    _options,
    help="Show the longest sequence, the largest micro-batch, the fewest devices, the smallest "
    "stage or degree with which a model fits at the fullest moment of a step.",
)
