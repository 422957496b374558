"""Recomputation: which ops are run again in backward instead of keeping what they need.

A policy is a set of scope paths. The engine has two of its own, `none` and `full`; others are
knowledge about networks and are named in spec packages.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from membill.errors import InputError, unknown
from membill.graph import Graph, Op
from membill.ledger import Region

WHOLE_LAYER = "layer"


@dataclass(frozen=True)
class Policy:
    """A named choice of what to recompute: ops whose path holds one of these scopes."""

    name: str
    scopes: tuple[str, ...]
    summary: str
    source: str = ""


def region_of(policy: Policy, graph: Graph) -> Region:
    """The regions that a policy makes in a graph, one for each scope that it names.

    Raises InputError if a scope of the policy is nowhere in the graph.
    """
    if policy == FULL:
        return lambda op: WHOLE_LAYER
    for scope in policy.scopes:
        if not any(_within(op, scope) for op in graph.ops):
            raise unknown(f"scope to recompute ({policy.name!r})", scope, graph.scopes())

    def region(op: Op) -> str | None:
        found = [path for scope in policy.scopes if (path := _within(op, scope))]
        return min(found, key=len) if found else None

    return region


def _within(op: Op, scope: str) -> str:
    """The part of the op's path that ends with `scope`, or "" if the op lies outside of it."""
    parts, wanted = op.path.split("."), scope.split(".")
    for start in range(len(parts) - len(wanted)):
        if parts[start : start + len(wanted)] == wanted:
            return ".".join(parts[: start + len(wanted)])
    return ""


def of_scopes(scopes: Collection[str]) -> Policy:
    """A policy for scope paths given by the caller; InputError if they are not strings."""
    if not scopes or not all(isinstance(scope, str) for scope in scopes):
        raise InputError(f"recompute = {scopes!r}: give a policy's name or scope paths")
    return Policy("scopes", tuple(scopes), "recompute " + ", ".join(scopes))


NONE = Policy("none", (), "Keep everything that backward needs.")
FULL = Policy("full", (WHOLE_LAYER,), "Keep the layer's input alone and run the layer again.")
