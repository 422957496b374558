"""What the pages of plans state: what a mesh divides, sizes against a degree, optima, prices.

Which layers and which models a page takes as examples is the page's to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import sympy

from membill import dtypes, printer, symbols, units
from membill.adapter import Adapter
from membill.diff import saves_nothing_of_squares
from membill.dtypes import DType
from membill.errors import InputError
from membill.formula import Condition, Formula
from membill.frontier import Step, frontier
from membill.layers import Layer
from membill.ledger import Row
from membill.mesh import Axis, Rule
from membill.offload import Link, Traffic, traffic
from membill.pipeline import Schedule, Stage, stage, stages
from membill.plans import plan
from membill.precision import Precision
from membill.published import Compared, Published
from membill.recipe import (
    Partition,
    Recipe,
    divided_at,
    model_states,
    states_total,
)
from membill.recompute import FULL
from membill.render.charts import Bar, Curve
from membill.render.facts import at, ratio
from membill.segments import Segments, best_length, segments
from membill.shapes import Shape
from membill.stack import stack
from membill.symbols import L

DEGREES = (1, 2, 4, 8, 16, 32, 64)
"""The degrees of the tables and charts, as far as a plan allows them."""

DEVICES = (1, 4, 16, 64, 256, 1024)
"""The numbers of devices among which model states are divided."""


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
    own = [shape for shape in shapes if shape.layer == layer.name]
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


def staged(
    schedules: Iterable[Schedule], layer: Formula
) -> tuple[tuple[Schedule, Stage, Stage], ...]:
    """Each schedule with any stage of it, and the first one."""
    return tuple((item, stage(item, layer), stage(item, layer, index=0)) for item in schedules)


def over_stages(
    schedules: Iterable[Schedule], layer: Formula, where: Mapping[str, int]
) -> tuple[Curve, ...]:
    """Bytes on each stage against its index, one line for each schedule; `where` gives p."""
    formulas = {schedule.title: stage(schedule, layer).bytes for schedule in schedules}
    return against(formulas, "i", range(where["p"]), where)


@dataclass(frozen=True)
class Segmented:
    """A stack in segments of layers: what each keeps, and what a layer is while rebuilt."""

    boundary: Formula
    inside: Formula

    @cached_property
    def optimum(self) -> Segments:
        """The best segment, as expressions over L."""
        return segments(self.boundary.expr, self.inside.expr)

    def best(self, shape: Shape, length: int) -> tuple[int, int]:
        """At a model: the whole number of layers in a segment that takes least, and its bytes."""
        return self.best_of(shape["L"], **at(shape, length))

    def best_of(self, layers: int, **where: int) -> tuple[int, int]:
        """The same for a stack of so many layers."""
        return best_length(self.boundary, self.inside, layers, **where)


def segmented(layer: Layer) -> Segmented:
    """Segments that keep their input alone, of layers that are whole while they are rebuilt."""
    boundary = layer.activations(recompute="full", statistics=False)
    inside = layer.activations(statistics=False)
    return Segmented(boundary, inside)


def chain() -> Segmented:
    """The stack of layers that make one tensor each, of the size of their input; in tensors."""
    tensor = Formula(sympy.Integer(1), "tensors")
    return Segmented(tensor, tensor)


def rounded(expr: sympy.Expr, layers: int) -> str:
    """An expression over L at a number of layers, to two places."""
    return units.decimal(Fraction(str(sympy.N(expr.subs(L, layers), 12))), 2)


def every_nth(layer: Layer, shape: Shape, length: int) -> tuple[tuple[int, int, int], ...]:
    """(n, bytes kept, bytes at the peak) where every n-th layer is recomputed, for each n."""
    number, where, run = shape["L"], at(shape, length), plan(recompute=FULL)
    found = ((n, stack(layer, run, layers=number, every=n)) for n in DEGREES if number % n == 0)
    return tuple((n, each.kept(**where), each.peak(**where)) for n, each in found)


def price_curve(name: str, steps: Iterable[Step]) -> Curve:
    """Bytes kept against the price in percent; of steps at one price, the last."""
    return Curve(name, {float(step.price * 100): step.kept for step in steps})


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


def formats() -> tuple[DType, ...]:
    """Every number format of the engine."""
    return tuple(item for item in vars(dtypes).values() if isinstance(item, DType))


def by_format(precision: Precision) -> Iterable[tuple[DType, tuple[str, ...]]]:
    """The kinds of ops that run in each format."""
    for dtype in dict.fromkeys(precision.runs.values()):
        yield dtype, tuple(kind for kind, runs in precision.runs.items() if runs == dtype)


def training(adapters: Mapping[str, Adapter]) -> tuple[Adapter, ...]:
    """The adapters that freeze a layer and train weights of their own."""
    return tuple(adapter for adapter in adapters.values() if adapter.trains is not None)


def kept(layers: Mapping[str, Layer]) -> Mapping[str, Formula]:
    """What each layer keeps, by the same names."""
    return {name: layer.activations() for name, layer in layers.items()}


def bars(named: Mapping[str, Formula], where: Mapping[str, int]) -> tuple[Bar, ...]:
    """Formulas as bars, each as long as its bytes."""
    sizes = {name: int(formula(**where)) for name, formula in named.items()}
    return tuple(Bar(name, "", float(size), units.gb(size)) for name, size in sizes.items())


def times(moved: Traffic, links: Iterable[Link], where: Mapping[str, int]) -> tuple[Bar, ...]:
    """The least time of a movement on each link as bars."""
    seconds = {link.title: moved.seconds(link, **where) for link in links}
    return tuple(
        Bar(title, "", float(time), f"{units.decimal(time, 2)} s")
        for title, time in seconds.items()
    )


def partitioned(recipe: Recipe, partition: Partition, number: int) -> Formula:
    """Bytes of all states on one device at a stage of a partitioning."""
    return states_total(model_states(recipe, divided=divided_at(partition, number)))


def states_of(recipe: Recipe, kind: str, parameters: int) -> Formula:
    """Bytes of a recipe's states of one kind."""
    rows = model_states(recipe, parameters)
    return states_total(tuple(row for row in rows if row.state.kind == kind))


def compared(published: Iterable[Published]) -> tuple[Compared, ...]:
    """Every published formula beside the derived one."""
    return tuple(item.compared() for item in published)


__all__ = [
    "DEGREES",
    "DEVICES",
    "against",
    "asked",
    "bars",
    "by_format",
    "chain",
    "compared",
    "condition",
    "conditions",
    "every_nth",
    "formats",
    "frontier",
    "kept",
    "model_states",
    "over_stages",
    "own_shape",
    "partitioned",
    "preferred",
    "price_curve",
    "quotient",
    "ratio",
    "ratio_at",
    "reached",
    "root",
    "rounded",
    "saves_nothing_of_squares",
    "segmented",
    "shares",
    "staged",
    "stages",
    "states_of",
    "states_total",
    "times",
    "traffic",
    "training",
    "ways",
]
