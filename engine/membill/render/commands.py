"""The command line as data for a page: usage, help and options of each command, by click."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass

import click

from membill.cli.per_layer import PerLayer
from membill.cli.per_model import PerModel


@dataclass(frozen=True)
class Described:
    """A command as it is typed. options: pairs of how one is written and what it does."""

    name: str
    usage: str
    help: str
    options: tuple[tuple[str, str], ...]

    @property
    def anchor(self) -> str:
        """The command as the fragment of an address."""
        return self.name.replace(" ", "-")


def described() -> tuple[Described, ...]:
    """The program and every command of it, those of a group after the group."""
    from membill.cli import program

    return tuple(
        _walked(program, click.Context(program, info_name="membill", **program.context_settings))
    )


def _walked(command: click.Command, context: click.Context) -> Iterator[Described]:
    """A command, then those of a group; a layer or model that a command is about is none."""
    shared = command.common() if isinstance(command, PerLayer | PerModel) else []
    with context:
        usage = " ".join(command.collect_usage_pieces(context))
        every = (*shared, *command.get_params(context))
        records = (each.get_help_record(context) for each in every)
        options = tuple(each for each in records if each is not None)
    text = inspect.cleandoc(command.help or "").replace("\b\n", "")
    yield Described(context.command_path, f"{context.command_path} {usage}", text, options)
    if isinstance(command, click.Group) and not shared:
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None:
                yield from _walked(found, click.Context(found, parent=context, info_name=name))
