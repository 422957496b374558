"""Recomputation: which ops are run again in backward instead of keeping what they need.

A policy is a set of scope paths. The engine has two of its own, `none` and `full`; others are
knowledge about networks and are named in spec packages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from membill.errors import InputError, unknown
from membill.graph import Graph, Op
from membill.ledger import Region

WHOLE_LAYER = "layer"


@dataclass(frozen=True)
class Policy:
    """A choice of what to recompute: the ops in some scopes.

    name: empty if the caller gave the scopes. scopes: a named policy's, which is not of one
    layer, are sought anywhere in an op's path; a caller's are paths from the layer's root.
    """

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
        if not any(_within(op, scope, policy) for op in graph.ops):
            place = f"of policy {policy.name!r}" if policy.name else "to recompute"
            raise unknown("scope", scope, graph.scopes(), place)

    def region(op: Op) -> str | None:
        found = [path for scope in policy.scopes if (path := _within(op, scope, policy))]
        return min(found, key=len) if found else None

    return region


def applicable(policies: Iterable[Policy], graph: Graph) -> tuple[Policy, ...]:
    """Those policies all of whose scopes the graph has."""
    return tuple(
        policy
        for policy in policies
        if policy == FULL
        or all(any(_within(op, scope, policy) for op in graph.ops) for scope in policy.scopes)
    )


def _within(op: Op, scope: str, policy: Policy) -> str:
    """The part of the op's path that ends with `scope`, or "" if the op lies outside of it."""
    parts, wanted = op.path.split("."), scope.split(".")
    starts = max(len(parts) - len(wanted), 0)
    for start in range(starts if policy.name else min(starts, 1)):
        if parts[start : start + len(wanted)] == wanted:
            return ".".join(parts[: start + len(wanted)])
    return ""


def of_scopes(scopes: Collection[str]) -> Policy:
    """A policy for scope paths given by the caller; InputError if they are not strings."""
    if not scopes or not all(isinstance(scope, str) for scope in scopes):
        raise InputError(f"recompute = {scopes!r}: give a policy's name or scope paths")
    return Policy("", tuple(scopes), "recompute " + ", ".join(scopes))


NONE = Policy("none", (), "Keep everything that backward needs.")
FULL = Policy("full", (WHOLE_LAYER,), "Keep the layer's input alone and run the layer again.")
