"""Recomputation: which ops are run again in backward instead of keeping what they need.

A policy is a set of scope paths. The engine has two of its own, `none` and `full`; others are
knowledge about networks and are named in spec packages.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from membill.errors import InputError, unknown
from membill.graph import Graph, Op
from membill.ledger import Region
from membill.paths import upto

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
    drops: Callable[[Op], bool] | None = None


def region_of(policy: Policy, graph: Graph) -> Region:
    """The regions that a policy makes in a graph, one for each scope that it names.

    Raises InputError if a scope of the policy is nowhere in the graph.
    """
    if policy.scopes == FULL.scopes:
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
    """The scope of the op that ends with `scope`, or "" if the op lies outside of it.

    A named policy knows no layer, so that its scopes may start anywhere; a caller's start at the
    layer.
    """
    found = upto(op.path.rpartition(".")[0], scope)
    return found if policy.name or found == scope else ""


def dropping(drops: Callable[[Op], bool]) -> Policy:
    """A policy that keeps nothing made by the ops for which the predicate holds.

    What backward needs of it is rebuilt from the nearest tensors that are kept.
    """
    return Policy("", (), "drop what a predicate names", drops=drops)


def both(first: Policy, second: Policy) -> Policy:
    """Recompute what either policy recomputes."""
    drops = [policy.drops for policy in (first, second) if policy.drops is not None]
    return Policy(
        "+".join(filter(None, (first.name, second.name))),
        FULL.scopes if FULL in (first, second) else (*first.scopes, *second.scopes),
        f"{first.summary} {second.summary}",
        drops=(lambda op: any(drop(op) for drop in drops)) if drops else None,
    )


def of_scopes(scopes: Collection[str]) -> Policy:
    """A policy for scope paths given by the caller; InputError if they are not strings."""
    if not scopes or not all(isinstance(scope, str) for scope in scopes):
        raise InputError(f"recompute = {scopes!r}: give a policy's name or scope paths")
    return Policy("", tuple(scopes), "recompute " + ", ".join(scopes))


NONE = Policy("none", (), "Keep everything that backward needs.")
FULL = Policy("full", (WHOLE_LAYER,), "Keep the layer's input alone and run the layer again.")
