"""Commands that take a layer, with the options of that layer's spec."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click

from membill import registry
from membill.cli.plans import plan_options, request, training_options
from membill.errors import InputError
from membill.layers import Option


class Choice(click.Choice[str]):
    """Names for help and completion. The engine checks the value: it knows the nearest one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The value as it is."""
        return str(value)


class PerLayer(click.Group):
    """A command with a layer as its argument.

    Which options there are depends on the layer, so to Click each layer is a command of its own.
    `run` takes the Request and the values of the command's own options, which `options` makes.
    planned: whether it takes options for how the layer is run and counted.
    """

    def __init__(
        self,
        name: str,
        run: Callable[..., None],
        options: Callable[[], Sequence[click.Option]],
        help: str,
        planned: bool = True,
    ) -> None:
        super().__init__(name, help=help, subcommand_metavar="LAYER [OPTIONS]", options_metavar="")
        self.run, self.options, self.planned = run, options, planned

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Let options stand before the layer too."""
        place = next((i for i, arg in enumerate(args) if is_layer(arg)), 0)
        if not args or (not place and args[0] not in ctx.help_option_names and args[0][0] == "-"):
            known = ", ".join(sorted(registry.known().layers))
            raise InputError(f"{self.name} which layer? Known: {known}, or the path of a spec file")
        return super().parse_args(ctx, [args[place], *args[:place], *args[place + 1 :]])

    def common(self) -> list[click.Parameter]:
        """The options that there are whatever the layer."""
        planned = plan_options() if self.planned else []
        return [*self.options(), *training_options(), *planned]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The registered layers."""
        return sorted(registry.known().layers)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """The command for one layer; InputError if it does not exist."""
        layer = registry.layer(cmd_name)
        own = self.common()
        variants = [
            variant_option(f"layer {layer.name!r}", option, own) for option in layer.options
        ]

        def run(**values: Any) -> None:
            chosen = layer.variant(
                **{option.name: values.pop(option.name) for option in layer.options}
            )
            self.run(request(chosen, values), **values)

        summary = f"{layer.title}. {layer.summary}"
        return click.Command(cmd_name, params=[*variants, *own], callback=run, help=summary)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the layers under that name."""
        with formatter.section("Layers"):
            formatter.write_dl([(n, x.title) for n, x in sorted(registry.known().layers.items())])


def is_layer(arg: str) -> bool:
    """Whether an argument names a layer or a spec file, rather than an option's value."""
    return not arg.startswith("-") and (arg in registry.known().layers or ".py" in arg)


def variant_option(owner: str, option: Option, taken: Sequence[click.Parameter]) -> click.Option:
    """The command line's option for one of a layer's or model's; InputError if it is `taken`."""
    flag = option.name.replace("_", "-")
    if any(f"--{flag}" in param.opts or option.name == param.name for param in taken):
        raise InputError(
            f"{owner}: its option {option.name!r} is also one of this command: "
            "give it another name in the spec"
        )
    if isinstance(option.default, bool):
        names = [option.name, f"--{flag}/--no-{flag}"]
        return click.Option(names, default=option.default, show_default=True)
    values = [str(value) for value in option.values]
    return click.Option(
        [option.name, f"--{flag}"],
        type=Choice(values),
        default=option.default,
        help="\n\n".join(_meanings(option)),
    )


def _meanings(option: Option) -> Iterator[str]:
    """What each value stands for: the first line of its docstring."""
    for name, function in option.choices.items():
        default = " (default)" if name == option.default else ""
        yield f"{name}{default}: {(inspect.getdoc(function) or '').partition(chr(10))[0]}"
