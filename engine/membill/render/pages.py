"""Every page of the reference, as text by path: a pure function of the registry."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from membill import registry, units
from membill.layers import Layer
from membill.mesh import Axis
from membill.render import charts, facts, plans
from membill.render.environment import shapes
from membill.render.gradients import usages
from membill.shapes import Shape

Pages = Mapping[str, str]
"""Text by path below the folder of the reference."""

PLANS = {
    "pipeline": "Pipeline",
    "recomputation": "Recomputation",
    "precision": "Precision",
    "adapters": "Freezing and adapters",
    "states": "Model states",
    "offload": "Offload",
}
"""The transforms that have a page each, besides the axes of a mesh, which are data."""


def library(files: Iterable[Path] = ()) -> registry.Registry:
    """What the installed spec packages declare, and what spec files of the user's add to it."""
    known = registry.known()
    for file in files:
        more = registry.specs_in(file)
        known = replace(
            known, layers=known.layers | dict(more.layers), ops=known.ops | dict(more.ops)
        )
    return known


def pages(known: registry.Registry, made: jinja2.Environment) -> Pages:
    """All pages of the reference."""
    found = {
        "symbols.md": _render(made, "symbols.md.j2"),
        "models.md": _render(made, "models.md.j2"),
        "audit.md": _render(made, "audit.md.j2"),
        "plans.md": _render(made, "plans.md.j2"),
        "published.md": _render(made, "published.md.j2"),
        "layers.md": _render(made, "layers.md.j2"),
        "ops.md": _render(
            made, "ops.md.j2", usages=usages(known.ops.values(), known.layers.values())
        ),
    }
    for axis in known.of(Axis).values():
        found[f"plans/{axis.name}.md"] = _render(made, "plans/mesh.md.j2", **_mesh(axis, known))
    for name in PLANS:
        found[f"plans/{name}.md"] = _render(made, f"plans/{name}.md.j2")
    for layer in known.layers.values():
        page = _layer_page(layer, known)
        found[f"layers/{layer.name}.md"] = _render(made, "layer.md.j2", page=page, layer=layer)
    return found


def navigation(known: registry.Registry, folder: str) -> list[dict[str, Any]]:
    """The generated part of the site's navigation."""
    by_layer = [
        {layer.title: f"{folder}/layers/{layer.name}.md"} for layer in known.layers.values()
    ]
    by_axis = [
        {axis.summary.partition(":")[0]: f"{folder}/plans/{axis.name}.md"}
        for axis in known.of(Axis).values()
    ]
    by_name = [{title: f"{folder}/plans/{name}.md"} for name, title in PLANS.items()]
    return [
        {"Plans": [{"All plans": f"{folder}/plans.md"}, *by_axis, *by_name]},
        {"Layers": [{"All layers": f"{folder}/layers.md"}, *by_layer]},
        {
            "Reference": [
                {"Symbols": f"{folder}/symbols.md"},
                {"Ops": f"{folder}/ops.md"},
                {"Models": f"{folder}/models.md"},
                {"Published formulas": f"{folder}/published.md"},
                {"Audit": f"{folder}/audit.md"},
            ]
        },
    ]


def _mesh(axis: Axis, known: registry.Registry) -> Mapping[str, object]:
    """What the template of an axis asks for: how it is asked for, what layers it divides."""
    return {
        "axis": axis,
        "ways": plans.ways(axis, known.rules),
        "reached": plans.reached(axis, known.layers.values(), known.rules),
    }


def _render(made: jinja2.Environment, template: str, **context: object) -> str:
    return made.get_template(template).render(**context)


@dataclass(frozen=True)
class LayerPage:
    """What the template of a layer asks for beyond the layer itself.

    example: the shape that the charts are drawn for, the layer's largest model; None if no
    shape fits, and then there are no charts. curves: one for each formula that the modes have.
    """

    layer: Layer
    modes: tuple[facts.Mode, ...]
    shapes: tuple[Shape, ...]
    curves: tuple[charts.Curve, ...]
    source: Markup

    @property
    def example(self) -> Shape | None:
        """The shape of the charts."""
        return self.shapes[0] if self.shapes else None

    @property
    def alt_tensors(self) -> str:
        """The bar chart in words."""
        where = facts.at(self.shapes[0], facts.LENGTHS[0])
        rows = self.layer.ledger().rows
        largest = max(rows, key=lambda row: int(row.bytes(**where)))
        return (
            f"Bar chart of the bytes per token that each of {len(rows)} tensors takes; the largest "
            f"is {largest.tensor} with {largest.bytes} bytes. The data follow as a table."
        )

    @property
    def alt_lengths(self) -> str:
        """The line chart in words."""
        last = facts.CURVE[-1]
        ends = ", ".join(f"{curve.name} {units.gb(curve.points[last])}" for curve in self.curves)
        return f"Line chart of memory against sequence length; at T = {last:,}: {ends}."

    @property
    def bars(self) -> tuple[charts.Bar, ...]:
        """Bytes per token of each tensor at the example's shape."""
        where = facts.at(self.shapes[0], facts.LENGTHS[0])
        return tuple(
            charts.Bar(
                row.tensor,
                row.scope,
                float(Fraction(row.bytes(**where), where["T"])),
                str(row.bytes),
            )
            for row in self.layer.ledger().rows
        )


def _layer_page(layer: Layer, known: registry.Registry) -> LayerPage:
    fitting = facts.fitting(layer, shapes(known))
    modes = facts.modes(layer, known.policies.values())
    every = (facts.default_mode(layer), *modes)
    curves = _curves(every, fitting[0]) if fitting else ()
    file = inspect.getsourcefile(inspect.unwrap(layer.function))
    source = Markup(Path(file).read_text(encoding="utf-8").rstrip() if file else "")
    return LayerPage(layer, modes, fitting, curves, source)


def _curves(modes: Iterable[facts.Mode], shape: Shape) -> tuple[charts.Curve, ...]:
    """One curve for all modes of one formula: lines that coincide would hide each other."""
    named: dict[Any, list[str]] = {}
    formulas = {}
    for mode in modes:
        formula = mode.activations
        named.setdefault(formula.expr, []).append(mode.name)
        formulas[formula.expr] = formula
    return tuple(
        charts.Curve(
            ", ".join(names),
            {length: formulas[expr](**facts.at(shape, length)) for length in facts.CURVE},
        )
        for expr, names in named.items()
    )
