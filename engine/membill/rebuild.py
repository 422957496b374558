"""Dropping single tensors: what is rebuilt in backward from what else is kept, and by which ops.

A region of recompute.py is run again as a whole, from what enters it. Here a predicate names the
ops whose results are not kept; each is rebuilt from its nearest kept ancestors, whichever they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from membill.graph import Graph, Op
from membill.ledger import REBUILT, Kept, collect
from membill.recompute import Policy, region_of
from membill.tensor import Role, Tensor


@dataclass(frozen=True)
class Outcome:
    """What a policy keeps, and the ops that it runs again."""

    kept: tuple[Kept, ...]
    rerun: tuple[Op, ...]


@lru_cache(maxsize=2048)
def outcome(graph: Graph, policy: Policy, trainable: Callable[[Tensor], bool]) -> Outcome:
    """Apply a policy to a graph: its regions first, then what it drops beyond them."""
    region = region_of(policy, graph)
    kept = collect(graph, region=region, trainable=trainable)
    again = {op.path: op for op in graph.ops if region(op) is not None}
    if policy.drops is not None:
        kept, rebuilt = _drop(graph, kept, policy.drops)
        again.update({op.path: op for op in rebuilt})
    return Outcome(kept, tuple(op for op in graph.ops if op.path in again))


def _drop(
    graph: Graph, kept: tuple[Kept, ...], drops: Callable[[Op], bool]
) -> tuple[tuple[Kept, ...], list[Op]]:
    """Keep nothing that an op in `drops` made; return what stays and the ops that rebuild it."""
    makers = {op.path: op for op in graph.ops}

    def dropped(item: Kept) -> bool:
        maker = makers.get(item.tensor.path)
        return maker is not None and drops(maker)

    stay = {item.tensor: item for item in kept if not dropped(item)}
    todo = [makers[item.tensor.path] for item in kept if dropped(item)]
    rebuilt: dict[str, Op] = {}
    while todo:
        op = todo.pop()
        if op.path in rebuilt:
            continue
        rebuilt[op.path] = op
        for source in (tensor.storage for tensor in op.inputs):
            if source in stay or source.role in (Role.WEIGHT, Role.TABLE):
                continue
            maker = makers.get(source.path)
            if maker is not None:
                todo.append(maker)
            else:
                stay[source] = Kept(source, op.path, ((op.path, REBUILT),))
    return tuple(stay.values()), list(rebuilt.values())
