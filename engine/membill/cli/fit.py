"""`membill fit MODEL`: the plans under which a model fits on so many devices."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import click

from membill import units
from membill.cli.dimensions import given, letter_options
from membill.cli.memory import counted_off, memory_options, memory_settings, plan_settings
from membill.cli.output import Section, write, write_json
from membill.cli.per_model import PerModel
from membill.cli.request import ModelRequest
from membill.cli.settings import json_option, run_options, run_settings
from membill.cli.values import amount_or_symbol, count
from membill.errors import InputError
from membill.fit import LIMIT, Found, search
from membill.offers import Offer, Settings
from membill.tables import Table, settings_text, spelled


def _fit(
    request: ModelRequest,
    *,
    gpus: str | None,
    limit: str,
    tokens: str | None,
    largest: bool,
    assignments: tuple[str, ...],
    json: bool,
    **more: Any,
) -> None:
    if gpus is None:
        raise InputError("give --gpus INTEGER, how many devices there are")
    room, devices = memory_settings(more), count("--gpus", gpus)
    run, letters = {**plan_settings(request), **run_settings(more)}, given(assignments, more)
    if largest and "b" in letters:
        raise InputError(f"-b {letters['b']}: --largest-b looks for it")
    settings: dict[str, Any] = {"b": None if largest else 1, **room, **run, **letters}
    if tokens is not None:
        settings["global_batch_tokens"] = amount_or_symbol("--tokens", tokens)
    most = count("--limit", limit)
    found = search(request.model, gpus=devices, limit=most, track=counted_off, **settings)
    if json:
        asked = {"settings": _plain(run), "gpus": devices, "memory": room["memory"]}
        write_json({**request.as_data(), **asked, **_data(found)})
        return
    size = f"{units.gb(room['memory'])} ({units.gib(room['memory'])})"
    about = [
        settings_text({"model": request.model.name, **letters, **run}),
        f"{devices} devices of {size}; what is needed is that at the fullest moment of a step",
    ]
    write((request.model.title, "\n".join(about)), [_section(found, {*run, *letters})])


def _section(found: Found, given: Collection[str]) -> Section:
    if found.offers or found.nearest is None:
        title = "plans that fit" if found.offers else "no plan fits"
        return Section(title, _table(found.offers, given))
    short = -found.nearest.spare
    title = f"no plan fits: the nearest misses by {units.gb(short)} ({units.gib(short)})"
    return Section(title, _table([found.nearest], given))


def _table(offers: Sequence[Offer], given: Collection[str]) -> Table:
    """One row an offer, with all of its plan that was not given and not left alone by all."""
    rows = [_row(offer) for offer in offers]
    names = dict.fromkeys(name for row in rows for name in row)
    idle = {name for name in names if all(row.get(name, "1") == "1" for row in rows)}
    used = [name for name in names if name not in {*idle, *given}]
    return Table(tuple(used), tuple(tuple(row.get(name, "") for name in used) for row in rows))


def _row(offer: Offer) -> dict[str, str]:
    """An offer's cells, by column."""
    plan = {**dict(offer.degrees), **offer.settings}
    steps = {} if offer.steps is None else {"steps": str(offer.steps)}
    return {
        "recompute": offer.policy,
        "FLOPs run again": units.percent(offer.price, places=1),
        **{name: spelled(value) for name, value in plan.items() if name != "recompute"},
        **steps,
        "needed in GB (10⁹ B)": units.gb(offer.bytes),
        "in GiB (2³⁰ B)": units.gib(offer.bytes),
        "spare": units.gb(offer.spare),
    }


def _data(found: Found) -> dict[str, Any]:
    nearest = found.nearest if not found.offers else None
    return {
        "offers": [_offer_data(offer) for offer in found.offers],
        "nearest": nearest and _offer_data(nearest),
    }


def _offer_data(offer: Offer) -> dict[str, Any]:
    return {
        "settings": _plain({**offer.settings, "recompute": offer.policy}),
        "degrees": dict(offer.degrees),
        "bytes": offer.bytes,
        "at": offer.at or None,
        "spare": offer.spare,
        "price": str(offer.price),
        "steps": offer.steps,
    }


def _plain(settings: Settings) -> dict[str, Any]:
    return {
        name: value if isinstance(value, (int, str)) else str(value)
        for name, value in settings.items()
    }


def _options() -> list[click.Option]:
    return [
        click.Option(["--gpus"], metavar="INTEGER", help="How many devices there are."),
        *memory_options(),
        *letter_options(),
        click.Option(
            ["largest", "--largest-b"],
            is_flag=True,
            help="As many sequences in a micro-batch as fit, instead of -b (1 unless told).",
        ),
        click.Option(
            ["tokens", "--tokens"],
            metavar="INTEGER",
            help="Tokens of the global batch, such as 4e6: says how many micro-batches there are.",
        ),
        *run_options(),
        click.Option(
            ["--limit"],
            default=str(LIMIT),
            show_default=True,
            metavar="INTEGER",
            help="Stop after so many plans.",
        ),
        json_option(),
    ]


command = PerModel(
    "fit",
    _fit,
    _options,
    help="Show under which plans a model fits on so many devices at the fullest moment of a step: "
    "what recomputes least first, then what has least model parallelism. What is given is not "
    "searched for.",
)
