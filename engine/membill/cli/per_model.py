"""Commands that take a model, with the options of that model's spec."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import click

from membill import registry
from membill.architecture import Architecture
from membill.cli.per_layer import Choice, is_layer, variant_option
from membill.cli.plans import model_request, plan_options, training_options
from membill.config_reading import shape_at
from membill.errors import InputError
from membill.finding import model, of_shape
from membill.layers import Option
from membill.models import TIED, Model

HOST = "--model"
JSON = ".json"


class PerModel(click.Group):
    """A command with a model as its argument, or a layer that stands in for a model's own.

    Which options there are depends on the model, so to Click each model is a command of its own.
    `run` takes the ModelRequest and the values of the command's own options, which `options`
    makes.
    """

    def __init__(
        self,
        name: str,
        run: Callable[..., None],
        options: Callable[[], Sequence[click.Parameter]],
        help: str,
    ) -> None:
        super().__init__(name, help=help, subcommand_metavar="MODEL [OPTIONS]", options_metavar="")
        self.run, self.options = run, options

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Let options stand before the model too, and note which model a layer is put into."""
        ctx.obj = _after(args, HOST)
        place = next((i for i, arg in enumerate(args) if _names_one(arg, args[:i])), 0)
        if not args or (not place and args[0] not in ctx.help_option_names and args[0][0] == "-"):
            known = ", ".join(_known())
            raise InputError(f"{self.name} which model? Known: {known}, or a config.json")
        return super().parse_args(ctx, [args[place], *args[:place], *args[place + 1 :]])

    def common(self) -> list[click.Parameter]:
        """The options that there are whatever the model."""
        return [_host_option(), *self.options(), *training_options(), *plan_options()]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The known models, and those without dimensions."""
        return list(_known())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """The command for one model; InputError if it does not exist."""
        subject = subject_of(cmd_name, ctx.obj)
        own = self.common()
        choices = options_of(subject)
        variants = [variant_option(f"model {subject.name!r}", each, own) for each in choices]

        def run(model: str | None, **values: Any) -> None:
            context = click.get_current_context()
            given = {each.name: values.pop(each.name) for each in choices}
            default = click.core.ParameterSource.DEFAULT
            chosen = subject.variant(
                **{
                    name: value
                    for name, value in given.items()
                    if context.get_parameter_source(name) is not default
                }
            )
            self.run(model_request(chosen, values), **values)

        summary = f"{subject.title}. {subject.architecture.summary}".strip()
        return click.Command(cmd_name, params=[*variants, *own], callback=run, help=summary)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the models under that name, and those without dimensions."""
        shapes = [(name, registry.shape(name).title) for name in registry.known().shapes]
        specs = [(name, spec.title) for name, spec in registry.everything(Architecture).items()]
        for title, rows in (("Models", shapes), ("Models without dimensions", specs)):
            with formatter.section(title):
                formatter.write_dl(rows)


def subject_of(name: str, host: str | None) -> Model:
    """The model of that name; or the model `host`, made of the layer of that name or file.

    Raises InputError for a name that there is not, and for a layer without a host.
    """
    if host is not None:
        return _named(host).with_layer(registry.layer(name))
    if name not in _known() and is_layer(name):
        raise InputError(f"{name} is a layer: give {HOST} NAME, a model that is to be made of it")
    return _named(name)


def _named(name: str) -> Model:
    """The model of that name, or that a config.json describes."""
    return of_shape(shape_at(name)) if name.endswith(JSON) else model(name)


def options_of(subject: Model) -> tuple[Option, ...]:
    """The options of all parts of a model, each once, with what the model chose as default."""
    found = {option.name: option for part in subject.parts for option in part.layer.options}
    if subject.architecture.tied:
        found[TIED] = Option(TIED, subject.tied, {True: None, False: None})
    chosen = subject.options
    return tuple(
        replace(option, default=chosen[name]) for name, option in found.items() if name in chosen
    )


def _known() -> tuple[str, ...]:
    """The names of the models, and of those without dimensions."""
    return (*registry.known().shapes, *registry.everything(Architecture))


def _host_option() -> click.Option:
    return click.Option(
        [HOST],
        type=Choice(_known()),
        metavar="NAME",
        help="With a layer instead of a model: the model whose layers it replaces.",
    )


def _names_one(arg: str, before: Sequence[str]) -> bool:
    """Whether an argument names a model or layer, rather than being an option or its value."""
    if arg.startswith("-") or before[-1:] == [HOST]:
        return False
    return arg in _known() or arg.endswith(JSON) or is_layer(arg)


def _after(args: Sequence[str], option: str) -> str | None:
    """The value that is given for an option."""
    for place, arg in enumerate(args):
        name, equals, value = arg.partition("=")
        if name == option:
            return value if equals else "".join(args[place + 1 : place + 2])
    return None
