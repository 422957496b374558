"""Options that several commands have: states, pipelines, offload, and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from membill import registry
from membill.cli.per_layer import Choice
from membill.cli.plans import listed
from membill.cli.states import partition_option, partition_stage
from membill.cli.values import symbol_or_count
from membill.offload import Link, Movement
from membill.pipeline import Schedule
from membill.plans import LETTERS
from membill.recipe import Partition, Recipe


def json_option() -> click.Option:
    """Data instead of tables."""
    return click.Option(["--json"], is_flag=True, help="Print everything as JSON.")


def state_options() -> list[click.Option]:
    """A recipe, and how data-parallel devices divide its states."""
    recipes = registry.everything(Recipe)
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
    ]


def schedule_options() -> list[click.Option]:
    """A schedule and the letters of its formulas."""
    schedules = registry.everything(Schedule)
    p, m, v = (str(LETTERS[name]) for name in ("pp", "micro_batches", "chunks"))
    return [
        click.Option(
            ["--schedule"],
            type=Choice(schedules),
            metavar="NAME",
            help=f"The order of forward and backward passes: {', '.join(schedules)}.",
        ),
        click.Option([p, "-p", "--pp"], metavar="INTEGER", help="Pipeline stages."),
        click.Option(
            [m, "-m", "--micro-batches"], metavar="INTEGER", help="Micro-batches in a step."
        ),
        click.Option(
            [v, "--chunks"], metavar="INTEGER", help="Model chunks on each stage, if interleaved."
        ),
    ]


def offload_options() -> list[click.Option]:
    """What is moved off the device, and over what."""
    links = registry.everything(Link)
    movements = ", ".join(registry.everything(Movement))
    return [
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
    ]


def run_options() -> list[click.Option]:
    """All of these, for a plan of a whole model."""
    return [*state_options(), *schedule_options(), *offload_options()]


def run_settings(values: dict[str, Any]) -> Mapping[str, Any]:
    """Take what `run_options` gave out of `values`, as settings of a plan, those given."""
    dp, offload = values.pop("dp"), values.pop("offload")
    stages = {name: values.pop(name) for name in registry.everything(Partition)}
    letters = {name: values.pop(str(letter)) for name, letter in LETTERS.items()}
    found: dict[str, Any] = {
        **{name: values.pop(name) for name in ("recipe", "schedule", "link")},
        "dp": None if dp is None else symbol_or_count("--dp", dp),
        **{n: s if s is None else partition_stage(n, s) for n, s in stages.items()},
        **{n: s if s is None else symbol_or_count(n, s) for n, s in letters.items()},
        "offload": listed(offload) or None,
    }
    return {name: value for name, value in found.items() if value is not None}
