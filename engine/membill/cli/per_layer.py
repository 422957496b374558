"""Commands that take a layer, with the options of that layer's spec."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import click
import sympy

from membill import printer, recompute, registry, tables
from membill.cli.values import symbol_or_count
from membill.errors import InputError, unknown
from membill.formula import Formula
from membill.layers import Layer, Option
from membill.ledger import Ledger


@dataclass(frozen=True)
class Request:
    """A layer and how to count it, as asked for on the command line."""

    layer: Layer
    recompute: str | tuple[str, ...]
    statistics: bool
    dtype_bytes: int | sympy.Expr
    specialise: bool

    def ledger(self) -> Ledger:
        """What the layer keeps, counted as asked for."""
        return self.layer.ledger(
            recompute=self.recompute,
            dtype_bytes=self.dtype_bytes,
            specialise=self.specialise,
            statistics=self.statistics,
        )

    def described(self) -> str:
        """`gpt attention=eager recompute=mlp`: the options of the spec, and others where set."""
        scopes = [self.recompute] if isinstance(self.recompute, str) else self.recompute
        extra = {
            "recompute": "" if self.recompute == "none" else ",".join(scopes),
            "dtype_bytes": "" if self.dtype_bytes == 2 else str(self.dtype_bytes),
            "statistics": "" if self.statistics else "off",
            "specialise": "" if self.specialise else "off",
        }
        set_here = [f"{name}={value}" for name, value in extra.items() if value]
        return " ".join(filter(None, [self.layer.name, tables.options_text(self.layer), *set_here]))

    def as_data(self) -> dict[str, Any]:
        """What was asked for, for JSON."""
        put_in = self.layer.definitions if self.specialise else ()
        width = self.dtype_bytes
        return {
            "layer": self.layer.name,
            "title": self.layer.title,
            "source": self.layer.source,
            "options": dict(self.layer.chosen),
            "recompute": self.recompute,
            "statistics": self.statistics,
            "dtype_bytes": width if isinstance(width, int) else str(width),
            "definitions": {str(symbol): printer.text(value) for symbol, value in put_in},
        }


class Choice(click.Choice[str]):
    """Names for help and completion. The engine checks the value: it knows the nearest one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The value as it is."""
        return str(value)


def _counting() -> list[click.Parameter]:
    return [
        click.Option(
            ["--recompute"],
            multiple=True,
            metavar="POLICY|SCOPE,...",
            help="Run these again in backward instead of keeping what they need: a policy "
            f"({', '.join(registry.known().policies)}) or scopes of the layer.",
        ),
        click.Option(
            ["--no-statistics"],
            is_flag=True,
            help="Leave out per-token statistics, as papers do.",
        ),
        click.Option(
            ["--dtype-bytes"],
            default="2",
            show_default=True,
            metavar="BYTES|SYMBOL",
            help="Width of the compute dtype: 2, 4, or a symbol such as beta.",
        ),
        click.Option(
            ["--general"],
            is_flag=True,
            help="Put in nothing for symbols that the layer defines, such as d_k.",
        ),
    ]


class PerLayer(click.Group):
    """A command with a layer as its argument.

    Which options there are depends on the layer, so to Click each layer is a command of its own.
    `run` takes the Request and the values of the command's own options, which `options` makes.
    """

    def __init__(
        self,
        name: str,
        run: Callable[..., None],
        options: Callable[[], Sequence[click.Option]],
        help: str,
    ) -> None:
        super().__init__(name, help=help, subcommand_metavar="LAYER [OPTIONS]", options_metavar="")
        self.run, self.options = run, options

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Let options stand before the layer too."""
        place = next((i for i, arg in enumerate(args) if is_layer(arg)), 0)
        if not args or (not place and args[0] not in ctx.help_option_names and args[0][0] == "-"):
            known = ", ".join(sorted(registry.known().layers))
            raise InputError(f"{self.name} which layer? Known: {known}, or the path of a spec file")
        return super().parse_args(ctx, [args[place], *args[:place], *args[place + 1 :]])

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The registered layers."""
        return sorted(registry.known().layers)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """The command for one layer; InputError if it does not exist."""
        layer = registry.layer(cmd_name)
        own = [*self.options(), *_counting()]
        variants = [variant_option(layer, option, own) for option in layer.options]

        def run(recompute: tuple[str, ...], dtype_bytes: str, **values: Any) -> None:
            chosen = layer.variant(
                **{option.name: values.pop(option.name) for option in layer.options}
            )
            request = Request(
                chosen,
                _recompute(chosen, recompute),
                not values.pop("no_statistics"),
                symbol_or_count("--dtype-bytes", dtype_bytes),
                not values.pop("general"),
            )
            self.run(request, **values)

        summary = f"{layer.title}. {layer.summary}"
        return click.Command(cmd_name, params=[*variants, *own], callback=run, help=summary)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the layers under that name."""
        with formatter.section("Layers"):
            formatter.write_dl([(n, x.title) for n, x in sorted(registry.known().layers.items())])


def is_layer(arg: str) -> bool:
    """Whether an argument names a layer or a spec file, rather than an option's value."""
    return not arg.startswith("-") and (arg in registry.known().layers or ".py" in arg)


def variant_option(layer: Layer, option: Option, taken: Sequence[click.Parameter]) -> click.Option:
    """The command line's option for one of a layer's; InputError if its name is `taken`."""
    flag = option.name.replace("_", "-")
    if any(f"--{flag}" in param.opts or option.name == param.name for param in taken):
        raise InputError(
            f"layer {layer.name!r}: its option {option.name!r} is also one of this command: "
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


def _recompute(layer: Layer, given: Sequence[str]) -> str | tuple[str, ...]:
    """A policy's name or scope paths, each of which the layer has."""
    names = tuple(name.strip() for value in given for name in value.split(","))
    policies = registry.known().policies
    if not names:
        return "none"
    if len(names) == 1 and names[0] in policies:
        return names[0]
    graph = layer.graph()
    for name in names:
        if not recompute.applicable([recompute.of_scopes([name])], graph):
            allowed = [*(policies if len(names) == 1 else ()), *graph.scopes()]
            raise unknown("recompute policy or scope", name, allowed)
    return names


def formula_data(formula: Formula) -> dict[str, str]:
    """A formula in its notations, for JSON."""
    return {
        "text": str(formula),
        "latex": formula.latex(),
        "python": formula.python(),
        "unit": formula.unit,
    }
