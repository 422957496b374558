"""`membill audit TARGET`: a ledger beside what PyTorch keeps."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from membill import registry
from membill.audit import audit_layer
from membill.audit.compare import Comparison
from membill.audit.references import Factory, covering
from membill.audit.requirements import require_torch
from membill.cli.output import Section, write
from membill.cli.per_layer import is_layer, variant_option
from membill.cli.values import assignment
from membill.errors import InputError, MembillError, unknown
from membill.layers import Layer

DTYPES = ("bfloat16", "float32")
DEVICES = ("meta", "cpu")
LAYER = "membill.layer"


class AuditCommand(click.Command):
    """A command whose options depend on the layer that it is given."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Find the layer first, and take its variants' options."""
        name = _named(args)
        ctx.meta[LAYER] = registry.layer(name) if name else None
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The command's own options, and those of the layer's spec."""
        own = super().get_params(ctx)
        layer = ctx.meta.get(LAYER)
        if layer is None:
            return own
        return [
            *own,
            *(variant_option(f"layer {layer.name!r}", each, own) for each in layer.options),
        ]


def _named(args: Sequence[str]) -> str:
    """The layer that the arguments name: after --against, or else the target itself."""
    for place, arg in enumerate(args):
        option, equals, value = arg.partition("=")
        if option == "--against":
            return value if equals else "".join(args[place + 1 : place + 2])
    return next((arg for arg in args if is_layer(arg)), "")


@click.command("audit", cls=AuditCommand)
@click.argument("target", metavar="LAYER|MODULE:FACTORY")
@click.option("--against", metavar="LAYER", help="The layer that a module of yours should equal.")
@click.option("--model", metavar="NAME", help="Take the dimensions of a model.")
@click.option("-b", "b", metavar="INTEGER", help="Sequences in a micro-batch (1 unless told).")
@click.option("-T", "T", metavar="INTEGER", help="Tokens in a sequence.")
@click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="NAME=VALUE",
    help="Give or override a dimension, such as d=64. May be repeated.",
)
@click.option(
    "--dtype",
    type=click.Choice(DTYPES),
    default=DTYPES[0],
    show_default=True,
    help="The compute dtype.",
)
@click.option(
    "--device",
    type=click.Choice(DEVICES),
    default=DEVICES[0],
    show_default=True,
    help="meta needs no memory; cpu computes, for modules that look at their data.",
)
@click.pass_context
def audit(
    ctx: click.Context,
    /,
    *,
    target: str,
    against: str | None,
    model: str | None,
    assignments: tuple[str, ...],
    dtype: str,
    device: str,
    **given: Any,
) -> None:
    """Show a layer's ledger beside what PyTorch keeps, storage by storage.

    LAYER is audited against the reference module of its spec package, by default at a real
    model's dimensions. MODULE:FACTORY names a function of yours that makes a module from the
    dimensions it asks for, such as d, h, T; the dtype and device are PyTorch's defaults while
    it runs. It returns the module, or (module, inputs), or (module, inputs, shared tables);
    inputs are made in the layer's shapes if it gives none. Exit status 1 if anything differs.
    """
    require_torch()
    layer: Layer | None = ctx.meta[LAYER]
    if layer is None:
        if ":" in target:
            raise InputError(f"{target}: name the layer that it should equal, --against LAYER")
        raise unknown("layer", target, registry.known().layers)
    named = [f"{letter}={given[letter]}" for letter in ("b", "T") if given[letter] is not None]
    chosen = layer.variant(**{option.name: given[option.name] for option in layer.options})
    dims = _dimensions(chosen, model, dict(map(assignment, [*named, *assignments])))
    factory = _factory(target) if against is not None else None
    found = _audited(chosen, dims, factory, target, dtype=dtype, device=device)
    _show(found)
    ctx.exit(0 if found.equal else 1)


def _audited(
    layer: Layer, dims: Mapping[str, int], factory: Factory | None, target: str, **how: Any
) -> Comparison:
    try:
        return audit_layer(layer, dims, factory=factory, **how)
    except MembillError:
        raise
    except Exception as error:
        if factory is None:
            raise
        raise InputError(f"{target} failed: {type(error).__name__}: {error}") from error


def _show(found: Comparison) -> None:
    ledger, torch = found.bytes
    heading = ("", found.subject)
    facts = (
        ("ledger", f"{ledger:,} B"),
        ("PyTorch", f"{torch:,} B"),
        ("equal", "yes, storage by storage" if found.equal else "NO"),
    )
    write(heading, [Section("storages", found.table()), Section("in all", facts)])
    if not found.equal:
        click.echo(f"\n{found.message()}")


def _dimensions(layer: Layer, model: str | None, given: Mapping[str, int]) -> Mapping[str, int]:
    """The model's dimensions under those given; with neither, those of the layer's reference."""
    if model is None and not given:
        usual = covering(layer)
        model, given = usual.model, {"b": usual.sequences, "T": usual.tokens}
    base = {} if model is None else _of_model(layer, model, given)
    dims = {"b": 1, **base, **given}
    needed = {name for row in layer.ledger().entries for name in row.bytes.symbols}
    missing = sorted(needed - dims.keys())
    if missing:
        ways = " ".join(f"--set {name}=..." for name in missing)
        raise InputError(f"no value for {', '.join(missing)}: give {ways} or --model NAME")
    return {name: size for name, size in dims.items() if name in needed or name in given}


def _of_model(layer: Layer, model: str, given: Mapping[str, int]) -> dict[str, int]:
    """A model's dimensions, less those that the layer itself puts in."""
    own = {str(symbol) for symbol, _ in layer.definitions} - given.keys()
    return {name: size for name, size in registry.shape(model).items() if name not in own}


def _factory(target: str) -> Factory:
    """The function that `package.module:name` names; modules are found from here too."""
    module, _, name = target.partition(":")
    if not (module and name):
        raise InputError(f"{target}: with --against, give MODULE:FACTORY, such as mine:layer")
    sys.path.insert(0, "")
    try:
        factory = getattr(import_module(module), name, None)
    except ImportError as error:
        raise InputError(f"{target}: cannot import {module}: {error}") from error
    if not callable(factory):
        raise InputError(f"{target}: {module} has no function {name}")
    return factory
