"""Options of commands that ask what fits: how much memory there is, and signs of life."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, TypeVar

import click

from membill import units
from membill.cli.request import ModelRequest
from membill.errors import InputError

Item = TypeVar("Item")


def memory_options() -> list[click.Option]:
    """`--memory` and `--margin`; what they are given goes to `memory_settings`."""
    return [
        click.Option(
            ["--memory"],
            metavar="SIZE",
            help="Memory of one device with its unit, such as 80GB (10⁹ B) or 80GiB (2³⁰ B).",
        ),
        click.Option(
            ["--margin"],
            metavar="SHARE",
            help="Leave this share for fragmentation, from 0.1 to 0.2.",
        ),
    ]


def memory_settings(values: dict[str, Any]) -> dict[str, Any]:
    """Take what `memory_options` gave out of `values`; InputError if bad, or without a memory."""
    memory, margin = values.pop("memory"), values.pop("margin")
    if memory is None:
        raise InputError("give --memory SIZE, such as --memory 80GB")
    return {"memory": units.size(memory, "--memory"), "margin": _share(margin)}


def _share(text: str | None) -> Fraction | None:
    try:
        return None if text is None else Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise InputError(f"--margin {text}: give a share, such as 0.1") from None


def plan_settings(request: ModelRequest) -> dict[str, Any]:
    """The settings of a plan that were given; InputError for ways of counting that leave out."""
    if not all(request.counting.values()):
        raise InputError("--no-statistics and --general: what must fit is counted whole")
    context = click.get_current_context()
    default = click.core.ParameterSource.DEFAULT
    run = {name: value for name, value in request.run.items() if value is not None}
    usual = [name for name in run if context.get_parameter_source(name) is default]
    return {name: value for name, value in run.items() if name not in usual}


def counted_off(items: Sequence[Item]) -> Iterable[Item]:
    """The items, with a progress bar on stderr as they are gone through, if that is a terminal."""
    if not sys.stderr.isatty():
        return items
    from rich.console import Console
    from rich.progress import track

    return track(items, "plans tried", console=Console(stderr=True), transient=True)


@contextmanager
def busy(text: str) -> Iterator[None]:
    """A sign of life on stderr while something takes long, if that is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield
