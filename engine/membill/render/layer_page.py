"""What the page of a layer states beyond the layer: its modes, models, charts and spec."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import sympy
from markupsafe import Markup

from membill import registry, units
from membill.layers import Layer
from membill.render import charts, crossings, facts
from membill.render.environment import shapes
from membill.shapes import Shape


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


def layer_page(layer: Layer, known: registry.Registry) -> LayerPage:
    """The page of a layer, beside the models of a registry."""
    fitting = facts.fitting(layer, shapes(known))
    modes = facts.modes(layer, known.policies.values())
    every = (facts.default_mode(layer), *modes)
    curves = _curves(every, fitting[0]) if fitting else ()
    file = inspect.getsourcefile(inspect.unwrap(layer.function))
    source = Markup(Path(file).read_text(encoding="utf-8").rstrip() if file else "")
    return LayerPage(layer, modes, fitting, curves, source)


def _curves(modes: Iterable[facts.Mode], shape: Shape) -> tuple[charts.Curve, ...]:
    """One curve for all modes of one formula: lines that coincide would hide each other."""
    named: dict[sympy.Expr, list[facts.Mode]] = {}
    for mode in modes:
        named.setdefault(mode.activations.expr, []).append(mode)
    first = {", ".join(mode.name for mode in same): same[0] for same in named.values()}
    formulas = {name: mode.activations for name, mode in first.items()}
    return tuple(
        replace(
            line,
            crossings=(
                *line.crossings,
                *crossings.squares(first[line.name], line.name, shape, facts.CURVE),
            ),
        )
        for line in crossings.lines(formulas, shape, facts.CURVE)
    )
