"""A plan: how a layer is run. Every part of it transforms the ledger, and knows no network."""

from __future__ import annotations

from dataclasses import dataclass, field

import sympy

from membill import registry
from membill.errors import unknown
from membill.mesh import Axis, Mesh, mesh_of
from membill.recompute import NONE, Policy
from membill.tensor import count


@dataclass(frozen=True)
class Plan:
    """How a layer is run, checked: made by `plan`.

    recompute: what is run again in backward. dtype_bytes: width of the compute dtype.
    mesh: the degrees of parallelism and the rules by which they divide tensors.
    """

    recompute: Policy = NONE
    dtype_bytes: sympy.Expr = field(default=sympy.Integer(2))
    mesh: Mesh = field(default_factory=Mesh)


def plan(base: Plan | None = None, **settings: object) -> Plan:
    """A plan from settings by name, those that are not given taken from `base`.

    recompute: a policy's name, a predicate on ops, or a collection of these and scope paths.
    dtype_bytes: an int or a symbol. All others are degrees of mesh axes (tp=8, cp=c) or switches
    of mesh rules (sp=True), as the spec packages declare them.
    Raises InputError for an unknown setting and for a value that is not allowed.
    """
    base = base or Plan()
    axes, rules = registry.everything(Axis), tuple(registry.known().rules)
    names = {*axes, *(rule.switch for rule in rules if rule.switch)}
    for name in settings:
        if name not in names | {"recompute", "dtype_bytes"}:
            raise unknown("setting", name, names | {"recompute", "dtype_bytes"}, "of a plan")
    mesh = {name: value for name, value in settings.items() if name in names}
    return Plan(
        registry.policy(settings.get("recompute", base.recompute)),
        count(
            settings.get("dtype_bytes", base.dtype_bytes), "dtype_bytes", "the bytes of an entry"
        ),
        mesh_of(axes, rules, {**base.mesh.given, **mesh}) if mesh else base.mesh,
    )
