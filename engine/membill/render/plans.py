"""What the pages of plans state of one layer: what a mesh divides, sizes against a degree.

Which layers and which models a page takes as examples is the page's to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy

from membill import printer, symbols, units
from membill.architecture import layers_of
from membill.diff import saves_nothing_of_squares
from membill.errors import InputError
from membill.formula import Condition, Formula
from membill.frontier import frontier
from membill.layers import Layer
from membill.ledger import Row
from membill.mesh import Axis, Rule
from membill.render.charts import Bar, Curve
from membill.render.facts import ratio
from membill.shapes import Shape

DEGREES = (1, 2, 4, 8, 16, 32, 64)
"""The degrees of the tables and charts, as far as a plan allows them."""


@dataclass(frozen=True)
class Share:
    """A row of a ledger without a mesh, and the same row as one device has it."""

    whole: Row
    own: Row

    @property
    def divided(self) -> bool:
        """Whether the mesh divides it at all."""
        return bool(self.whole.entries.expr != self.own.entries.expr)

    @property
    def part(self) -> sympy.Expr:
        """One device's part of the whole, such as 1/t."""
        return sympy.cancel(self.own.entries.expr / self.whole.entries.expr)


def shares(layer: Layer, *, weights: bool = False, **settings: Any) -> tuple[Share, ...]:
    """What a device holds of each tensor that a layer keeps; of its weights, if asked for."""
    before, after = layer.ledger(), layer.ledger(**settings)
    pairs = (before.weights, after.weights) if weights else (before.rows, after.rows)
    return tuple(Share(*pair) for pair in zip(*pairs, strict=True))


def ways(axis: Axis, rules: Iterable[Rule]) -> tuple[Mapping[str, Any], ...]:
    """The settings by which a page shows an axis: alone, and with each switch of its rules."""
    alone = {axis.name: axis.symbol}
    switches = dict.fromkeys(rule.switch for rule in rules if rule.axis == axis.name)
    return (alone, *({**alone, switch: True} for switch in switches if switch))


def asked(settings: Mapping[str, Any], sign: str = "") -> str:
    """`tp=t, sp=True`, or with the sign `--` as the command line has it: `--tp t --sp`."""
    if sign:
        return " ".join(
            f"{sign}{name}" if value is True else f"{sign}{name} {value}"
            for name, value in settings.items()
        )
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def reached(axis: Axis, layers: Iterable[Layer], rules: Iterable[Rule]) -> tuple[Layer, ...]:
    """The layers with a tensor or weight that the axis divides without any switch."""
    own = [rule for rule in rules if rule.axis == axis.name and not rule.switch]

    def divides(shape: tuple[sympy.Expr, ...]) -> bool:
        letters = {symbol for size in shape for symbol in size.free_symbols}
        return any(rule.symbol in letters and rule.holds(shape) for rule in own)

    return tuple(layer for layer in layers if any(map(divides, _shapes(layer))))


def _shapes(layer: Layer) -> set[tuple[sympy.Expr, ...]]:
    graph = layer.graph()
    return {tensor.shape for tensor in (*graph.weights, *(op.output for op in graph.ops))}


def preferred(layers: Sequence[Layer], names: Sequence[str]) -> tuple[Layer, ...]:
    """Two layers for a page: those of these names, if any of them is there."""
    return tuple(layer for layer in layers if layer.name in names) or tuple(layers[:2])


def own_shape(layer: Layer, shapes: Iterable[Shape]) -> Shape:
    """The largest model that is made of the layer, by its letters L and d."""
    own = [shape for shape in shapes if layer.name in layers_of(shape)]
    return max(own, key=lambda shape: (shape.get("L", 0) * shape.get("d", 1) ** 2, shape.name))


def conditions(*formulas: Formula) -> tuple[Condition, ...]:
    """What must divide what for the formulas to hold, as far as letters are in it."""
    every = dict.fromkeys(item for formula in formulas for item in formula.conditions)
    return tuple(condition for condition in every if condition.open)


def against(
    formulas: Mapping[str, Formula],
    letter: str,
    values: Iterable[int],
    where: Mapping[str, int],
) -> tuple[Curve, ...]:
    """Each formula over values of a letter; a value that the formula does not allow is left out."""
    return tuple(
        Curve(name, dict(_allowed(formula, letter, values, where)))
        for name, formula in formulas.items()
    )


def _allowed(
    formula: Formula, letter: str, values: Iterable[int], where: Mapping[str, int]
) -> Iterable[tuple[int, int]]:
    for value in values:
        try:
            yield value, formula(**{**where, letter: value})
        except InputError:
            continue


def quotient(expr: sympy.Expr) -> str:
    """LaTeX of a quotient as one fraction, where a sum would be written term by term."""
    above, below = (part.expand() for part in sympy.fraction(sympy.together(expr)))
    if below == 1:
        return printer.latex(above)
    return rf"\frac{{{printer.latex(above)}}}{{{printer.latex(below)}}}"


def root(expr: sympy.Expr) -> str:
    """LaTeX of a positive expression with square roots, as the root of its square."""
    return rf"\sqrt{{{quotient(expr**2)}}}"


def condition(item: Condition) -> str:
    """LaTeX of what must divide what."""
    below, above = printer.latex(item.divisor), printer.latex(item.dividend)
    return rf"{below} \mid {above}" + (
        rf" \text{{ or }} {above} \mid {below}" if item.either_way else ""
    )


def ratio_at(ratio: sympy.Expr, where: Mapping[str, int]) -> Fraction:
    """An exact quotient of formulas at numbers, by symbol name."""
    put = {symbols.named(name).symbol: value for name, value in where.items()}
    exact = sympy.Rational(ratio.subs(put))
    return Fraction(int(exact.p), int(exact.q))


def kept(layers: Mapping[str, Layer]) -> Mapping[str, Formula]:
    """What each layer keeps, by the same names."""
    return {name: layer.activations() for name, layer in layers.items()}


def bars(named: Mapping[str, Formula], where: Mapping[str, int]) -> tuple[Bar, ...]:
    """Formulas as bars, each as long as its bytes."""
    sizes = {name: int(formula(**where)) for name, formula in named.items()}
    return tuple(Bar(name, "", float(size), units.gb(size)) for name, size in sizes.items())


__all__ = [
    "DEGREES",
    "against",
    "asked",
    "bars",
    "condition",
    "conditions",
    "frontier",
    "kept",
    "own_shape",
    "preferred",
    "quotient",
    "ratio",
    "ratio_at",
    "reached",
    "root",
    "saves_nothing_of_squares",
    "shares",
    "ways",
]
