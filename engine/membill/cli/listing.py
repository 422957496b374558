"""`membill list`: the layers, models and recompute policies that are known."""

from __future__ import annotations

import click

import membill
from membill import registry
from membill.cli.output import Section, write
from membill.layers import Layer, Option
from membill.tables import Table, spelled


@click.command("list")
def listing() -> None:
    """List layers, models and recompute policies."""
    write((f"Membill {membill.__version__}", ""), [_layers(), _models(), _policies()])


def _layers() -> Section:
    found = sorted(registry.known().layers.items())
    rows = tuple((name, layer.title, _options(layer)) for name, layer in found)
    return Section("layers", Table(("name", "title", "options, each with its default first"), rows))


def _options(layer: Layer) -> str:
    return "  ".join(f"{option.name}={'|'.join(_values(option))}" for option in layer.options)


def _values(option: Option) -> list[str]:
    ordered = dict.fromkeys((option.default, *option.values))
    return [spelled(value) for value in ordered]


def _models() -> Section:
    shapes = [registry.shape(name) for name in registry.known().shapes]
    rows = tuple((shape.name, shape.title, shape.layer) for shape in shapes)
    return Section("models", Table(("name", "title", "layer"), rows))


def _policies() -> Section:
    policies = registry.known().policies.values()
    rows = tuple((policy.name, policy.summary) for policy in policies)
    return Section("recompute policies", Table(("name", "what it does"), rows))
