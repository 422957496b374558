"""What the pages of plans state beyond one layer: stages, segments, states, traffic, citations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import sympy

from membill import dtypes, units
from membill.adapter import Adapter
from membill.dtypes import DType
from membill.formula import Formula
from membill.frontier import Step
from membill.layers import Layer
from membill.offload import Link, Traffic, traffic
from membill.pipeline import Schedule, Stage, stage, stages
from membill.plans import plan
from membill.precision import Precision
from membill.published import Compared, Published
from membill.recipe import Partition, Recipe, divided_at, model_states, states_total
from membill.recompute import FULL
from membill.render.charts import Bar, Curve
from membill.render.facts import at
from membill.render.plans import DEGREES, against
from membill.segments import Segments, best_length, segments
from membill.shapes import Shape
from membill.stack import stack
from membill.symbols import L

DEVICES = (1, 4, 16, 64, 256, 1024)
"""The numbers of devices among which model states are divided."""


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
    """Bytes kept against the price in percent; of steps at one price, the last.

    A point has the name of what is dropped there as well.
    """
    priced: dict[float, list[Step]] = {}
    for step in steps:
        priced.setdefault(float(step.price * 100), []).append(step)
    points = {price: same[-1].kept for price, same in priced.items()}
    return Curve(name, points, names={price: _dropped(same) for price, same in priced.items()})


def _dropped(steps: Iterable[Step]) -> str:
    *others, last = (step.path for step in steps if step.path)
    return f"{last}, {len(others)} more" if others else last


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
    "DEVICES",
    "by_format",
    "chain",
    "compared",
    "every_nth",
    "formats",
    "model_states",
    "over_stages",
    "partitioned",
    "price_curve",
    "rounded",
    "segmented",
    "staged",
    "stages",
    "states_of",
    "states_total",
    "times",
    "traffic",
    "training",
]
