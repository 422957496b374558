"""A part of a model: a kind of layer with how often it comes, or what comes once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import sympy

from membill.layers import Layer, OptionValue
from membill.ledger import Ledger, Row
from membill.plans import Plan
from membill.recompute import NONE, applicable
from membill.shapes import Shape

START, LAYERS, END = "start", "layers", "end"
ACTIVATIONS = "activations"


@dataclass(frozen=True, eq=False)
class Part:
    """A layer in a model, or what comes once before and after the layers.

    where: START, LAYERS or END. times: how often it comes. cache: the name of its kind of cache.
    dropped: labels of weights that are counted elsewhere, being tied. category: what a bill calls
    what it keeps for backward.
    """

    where: str
    layer: Layer
    times: sympy.Expr
    cache: str = ""
    dropped: frozenset[str] = frozenset()
    category: str = ACTIVATIONS

    @property
    def name(self) -> str:
        """Its name in a bill: the layer's, or that of the function that comes once."""
        return self.layer.name

    def ledger(self, plan: Plan, **counting: bool) -> Ledger:
        """The ledger of one of them; what comes once is never recomputed."""
        kept = self.layer.ledger(fitting(plan, self), **counting)
        if not self.dropped:
            return kept
        return Ledger(tuple(row for row in kept.entries if row.tensor not in self.dropped))


def trains(part: Part, row: Row) -> bool:
    """Whether a weight of a part takes a gradient."""
    return row.tensor in part.layer.trainable_labels()


def fitting(plan: Plan, part: Part) -> Plan:
    """The plan as it is for a part: layers that lack what a policy names are not recomputed."""
    if part.where == LAYERS and applicable([plan.recompute], part.layer.graph()):
        return plan
    return replace(plan, recompute=NONE)


def varied(part: Part, name: str, value: OptionValue) -> Part:
    """The part with another value for an option; as it is if it has no such option."""
    if name not in part.layer.chosen:
        return part
    return replace(part, layer=part.layer.variant(**{name: value}))


def defined(part: Part, groups: Iterable[tuple[Part, ...]], shape: Shape | None) -> Part:
    """The part with what all layers put in for symbols, as far as the shape agrees with it."""
    found = dict(item for group in groups for each in group for item in each.layer.definitions)
    sizes = {} if shape is None else {k: sympy.Integer(n) for k, n in shape.numbers().items()}
    holding = tuple(
        (symbol, given)
        for symbol, given in found.items()
        if sizes.get(symbol) in (None, given.xreplace(sizes))
    )
    return replace(part, layer=replace(part.layer, definitions=holding))
