"""`membill list`: what is known by name."""

from __future__ import annotations

from collections.abc import Iterable

import click

import membill
from membill import registry, units
from membill.adapter import Adapter
from membill.architecture import layers_of
from membill.cache import Cache
from membill.cli.output import Section, write
from membill.formats import Format
from membill.layers import Layer, Option
from membill.mesh import Axis
from membill.offload import Link, Movement
from membill.pipeline import Schedule
from membill.precision import Precision
from membill.recipe import Partition, Recipe
from membill.recompute import Policy
from membill.tables import Table, spelled


@click.command("list")
def listing() -> None:
    """List what is known: layers, models and everything that a plan is made of."""
    sections = [
        _layers(),
        _models(),
        _summaries("recompute policies", Policy),
        _summaries("precisions", Precision),
        _axes(),
        _adapters(),
        _titled("recipes", Recipe),
        _partitions(),
        _titled("pipeline schedules", Schedule),
        _summaries("offload", Movement),
        _links(),
        _titled("kinds of cache", Cache),
        _titled("formats of inference", Format),
    ]
    write((f"Membill {membill.__version__}", ""), sections)


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
    rows = tuple((shape.name, shape.title, ", ".join(layers_of(shape))) for shape in shapes)
    return Section("models", Table(("name", "title", "layers"), rows))


def _summaries(title: str, kind: type[Policy] | type[Precision] | type[Movement]) -> Section:
    items: Iterable[Policy | Precision | Movement] = registry.everything(kind).values()
    rows = tuple((item.name, item.summary) for item in items)
    return Section(title, Table(("name", "what it does"), rows))


def _axes() -> Section:
    axes = registry.everything(Axis).values()
    rows = tuple((axis.name, str(axis.symbol), axis.summary) for axis in axes)
    return Section("mesh axes", Table(("name", "degree", "what it does"), rows))


def _adapters() -> Section:
    adapters = registry.everything(Adapter).values()
    rows = tuple(
        (
            adapter.name,
            adapter.kind,
            "everything" if adapter.trains is None else ", ".join(adapter.trains),
            adapter.summary,
        )
        for adapter in adapters
    )
    return Section("adapters", Table(("name", "of ops", "trains", "what it does"), rows))


def _partitions() -> Section:
    partitions = registry.everything(Partition).values()
    rows = tuple(
        (partition.name, ", ".join(map(str, sorted(partition.stages))), partition.summary)
        for partition in partitions
    )
    return Section("partitionings of model states", Table(("name", "stages", "what it does"), rows))


def _titled(
    title: str, kind: type[Recipe] | type[Schedule] | type[Cache] | type[Format]
) -> Section:
    items: Iterable[Recipe | Schedule | Cache | Format] = registry.everything(kind).values()
    rows = tuple((item.name, item.title, item.summary) for item in items)
    return Section(title, Table(("name", "title", "what it does"), rows))


def _links() -> Section:
    links = registry.everything(Link).values()
    rows = tuple((link.name, link.title, f"{units.gb(link.bytes_per_second)}/s") for link in links)
    return Section("links", Table(("name", "title", "in each direction"), rows))
