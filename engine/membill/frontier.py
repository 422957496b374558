"""The recompute frontier: which results are worth most bytes for the FLOPs of making them again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from membill.layers import Layer
from membill.rebuild import outcome
from membill.recompute import dropping
from membill.tensor import Role, Tensor


@dataclass(frozen=True)
class Step:
    """One more op whose result is dropped: what is kept then, and what all reruns cost.

    kept: bytes of the layer. price: FLOPs of what is run again over FLOPs of the step.
    """

    path: str
    kept: int
    price: Fraction


def frontier(layer: Layer, values: Mapping[str, int]) -> tuple[Step, ...]:
    """Drop one op's result after the other, the one that saves most bytes per FLOP first.

    What costs no matrix product comes before all else, by bytes. Ends when nothing is left whose
    dropping saves memory. Evaluated at `values`, by symbol name.
    """
    cost = _costs(layer, values)
    names = [op.path for op in layer.graph().ops]
    dropped: list[str] = []
    steps = [Step("", *cost(dropped))]
    while True:
        last = steps[-1]
        tried = [Step(name, *cost([*dropped, name])) for name in names if name not in dropped]
        better = [step for step in tried if step.kept < last.kept]
        if not better:
            return tuple(steps)
        best = max(better, key=lambda step: _worth(last, step))
        dropped.append(best.path)
        steps.append(best)


def _worth(last: Step, step: Step) -> tuple[bool, Fraction]:
    saved, paid = last.kept - step.kept, step.price - last.price
    return paid <= 0, Fraction(saved) if paid <= 0 else saved / paid


def _costs(
    layer: Layer, values: Mapping[str, int]
) -> Callable[[Collection[str]], tuple[int, Fraction]]:
    """Bytes kept and price, by the ops that are dropped; every size is evaluated just once."""
    graph = layer.graph()

    @cache
    def size(tensor: Tensor) -> int:
        return int(layer.formula(tensor.bytes, "bytes")(**values))

    flops = {op.path: int(layer.formula(op.flops, "FLOPs")(**values)) for op in graph.ops}
    step = layer.price().step(**values)

    def cost(dropped: Collection[str]) -> tuple[int, Fraction]:
        found = outcome(graph, dropping(lambda op: op.path in dropped), layer.trainable)
        kept = sum(size(item.tensor) for item in found.kept if item.tensor.role is not Role.TABLE)
        return kept, Fraction(sum(flops[op.path] for op in found.rerun), step)

    return cost
