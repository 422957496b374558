"""Options that say how a layer is run, made from what the spec packages declare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import click
import sympy

from membill import recompute, registry, symbols
from membill.adapter import Adapter
from membill.cli.request import ModelRequest, Request
from membill.cli.values import symbol_or_count
from membill.errors import InputError, unknown
from membill.graph import Graph
from membill.layers import Layer
from membill.mesh import Axis, Rule
from membill.models import Model
from membill.precision import Precision

Subject = TypeVar("Subject", Layer, Model)


def training_options() -> list[click.Parameter]:
    """What is trained in a layer: adapters and frozen scopes."""
    return [
        click.Option(
            ["--adapt"],
            metavar="NAME",
            help=f"Replace some ops by an adapter: {', '.join(registry.everything(Adapter))}. "
            "What each does, and whether it freezes the rest, says `membill list`.",
        ),
        click.Option(
            ["--on"],
            multiple=True,
            metavar="OP|SCOPE,...",
            help="Where to put the adapter. May be repeated.",
        ),
        click.Option(
            ["--freeze"],
            multiple=True,
            metavar="OP|SCOPE,...",
            help="Weights within these take no gradient. May be repeated.",
        ),
    ]


def plan_options() -> list[click.Parameter]:
    """Precision, recomputation, every axis and switch of the mesh, and how to count."""
    return [
        click.Option(
            ["--precision"],
            metavar="NAME",
            help="Run ops in dtypes of their own instead of all in one: "
            f"{', '.join(registry.everything(Precision))}.",
        ),
        click.Option(
            ["--recompute"],
            multiple=True,
            metavar="POLICY|SCOPE,...",
            help="Run these again in backward instead of keeping what they need: a policy "
            f"({', '.join(registry.known().policies)}) or scopes of the layer.",
        ),
        *_mesh_options(),
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


def _mesh_options() -> Iterator[click.Option]:
    for name, axis in registry.everything(Axis).items():
        text = f"{axis.summary} A number, or a symbol such as {axis.symbol}."
        yield click.Option([name, _flag(name)], metavar="DEGREE|SYMBOL", help=text)
    for switch, rules in _switches().items():
        yield click.Option([switch, _flag(switch)], is_flag=True, help=_switched(rules))


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _switches() -> Mapping[str, list[Rule]]:
    found: dict[str, list[Rule]] = {}
    for rule in registry.known().rules:
        if rule.switch:
            found.setdefault(rule.switch, []).append(rule)
    return found


def _switched(rules: Sequence[Rule]) -> str:
    return " ".join(
        f"With {_flag(rule.axis)}, divide by {rule.symbol} what it would leave whole; "
        f"{rule.symbol}: {symbols.info(rule.symbol).meaning}."
        for rule in rules
    )


def request(layer: Layer, values: dict[str, Any]) -> Request:
    """Take what `training_options` and `plan_options` gave out of `values`; InputError if bad."""
    graphs = (layer.graph(),)
    chosen = _trained(layer, graphs, values)
    if "recompute" not in values:
        return Request(chosen)
    return Request(
        chosen,
        _precision(values.pop("precision")),
        _recompute(graphs, values.pop("recompute")),
        _mesh(values),
        not values.pop("no_statistics"),
        symbol_or_count("--dtype-bytes", values.pop("dtype_bytes")),
        not values.pop("general"),
    )


def model_request(model: Model, values: dict[str, Any]) -> ModelRequest:
    """The same for a model."""
    graphs = tuple(part.layer.graph() for group in model.groups for part in group)
    chosen = _trained(model, graphs, values)
    run = {
        "precision": _precision(values.pop("precision")),
        "recompute": _recompute(graphs, values.pop("recompute")),
        "dtype_bytes": symbol_or_count("--dtype-bytes", values.pop("dtype_bytes")),
        **_mesh(values),
    }
    counting = {
        "statistics": not values.pop("no_statistics"),
        "specialise": not values.pop("general"),
    }
    return ModelRequest(chosen, run, counting)


def _trained(subject: Subject, graphs: Sequence[Graph], values: dict[str, Any]) -> Subject:
    adapter, places = values.pop("adapt"), listed(values.pop("on"))
    if adapter is None and places:
        raise InputError(f"--on {','.join(places)}: give --adapt NAME with it")
    if adapter is not None:
        kind = registry.find(Adapter, adapter).kind
        if not places:
            ops = (op.path for graph in graphs for op in graph.ops if op.kind == kind)
            paths = ", ".join(dict.fromkeys(ops))
            raise InputError(f"--adapt {adapter}: give --on with it; allowed are {paths}")
        subject = subject.adapt(adapter, places)
    return subject.freeze(*listed(values.pop("freeze")))


def _precision(name: str | None) -> str | None:
    return name and registry.find(Precision, name).name


def _recompute(graphs: Sequence[Graph], given: Sequence[str]) -> str | tuple[str, ...]:
    """A policy's name or scope paths, each of which some layer has."""
    names = listed(given)
    policies = registry.known().policies
    if not names:
        return "none"
    if len(names) == 1 and names[0] in policies:
        return names[0]
    for name in names:
        scope = recompute.of_scopes([name])
        if not any(recompute.applicable([scope], graph) for graph in graphs):
            scopes = (scope for graph in graphs for scope in graph.scopes())
            allowed = [*(policies if len(names) == 1 else ()), *scopes]
            raise unknown("recompute policy or scope", name, allowed)
    return names


def _mesh(values: dict[str, Any]) -> dict[str, int | sympy.Symbol | bool]:
    """The degrees and switches that were given, taken out of `values`."""
    given = {name: values.pop(name) for name in (*registry.everything(Axis), *_switches())}
    return {
        name: value if isinstance(value, bool) else symbol_or_count(_flag(name), value)
        for name, value in given.items()
        if value is not None and value is not False
    }


def listed(given: Sequence[str]) -> tuple[str, ...]:
    """What an option gives that may be repeated, and may hold several names: `q,v`."""
    return tuple(name.strip() for value in given for name in value.split(","))
