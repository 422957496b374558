"""A plan: how a layer is run. Every part of it transforms the ledger, and knows no network."""

from __future__ import annotations

from dataclasses import dataclass, field

import sympy

from membill import registry
from membill.errors import InputError, unknown
from membill.mesh import Axis, Mesh, mesh_of
from membill.precision import Precision
from membill.recompute import NONE, Policy
from membill.tensor import count


@dataclass(frozen=True)
class Plan:
    """How a layer is run, checked: made by `plan`.

    recompute: what is run again in backward. dtype_bytes: width of the compute dtype.
    mesh: the degrees of parallelism and the rules by which they divide tensors.
    precision: the dtypes of ops, if not all of them run in the compute dtype.
    """

    recompute: Policy = NONE
    dtype_bytes: sympy.Expr = field(default=sympy.Integer(2))
    mesh: Mesh = field(default_factory=Mesh)
    precision: Precision | None = None

    def __post_init__(self) -> None:
        if self.precision is not None and self.dtype_bytes == self.precision.stored.bytes:
            raise InputError(
                f"dtype_bytes = {self.dtype_bytes} with precision {self.precision.name!r}: that "
                f"stores {self.precision.stored} and runs ops in a narrower dtype; give 2 or a "
                "symbol, or no precision"
            )


def plan(base: Plan | None = None, **settings: object) -> Plan:
    """A plan from settings by name, those that are not given taken from `base`.

    recompute: a policy's name, a predicate on ops, or a collection of these and scope paths.
    dtype_bytes: an int or a symbol. precision: a precision's name, or None for one dtype. All
    others are degrees of mesh axes (tp=8, cp=c) or switches of mesh rules (sp=True), as the spec
    packages declare them.
    Raises InputError for an unknown setting and for a value that is not allowed.
    """
    base = Plan() if base is None else base
    if not isinstance(base, Plan):
        raise InputError(f"{base!r} is not a plan: give settings by name, such as recompute=...")
    axes, rules = registry.everything(Axis), tuple(registry.known().rules)
    names = {*axes, *(rule.switch for rule in rules if rule.switch)}
    allowed = names | {"recompute", "dtype_bytes", "precision"}
    for name in settings:
        if name not in allowed:
            raise unknown("setting", name, allowed, "of a plan")
    mesh = {name: value for name, value in settings.items() if name in names}
    return Plan(
        registry.policy(settings.get("recompute", base.recompute)),
        count(
            settings.get("dtype_bytes", base.dtype_bytes), "dtype_bytes", "the bytes of an entry"
        ),
        mesh_of(axes, rules, {**base.mesh.given, **mesh}) if mesh else base.mesh,
        _precision(settings.get("precision", base.precision)),
    )


def _precision(given: object) -> Precision | None:
    if given is None or isinstance(given, Precision):
        return given
    return registry.find(Precision, given)
