"""A plan: how layers are run. Every part of it transforms the ledger, and knows no network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import sympy

from membill import registry
from membill.errors import InputError, unknown
from membill.mesh import UNDIVIDED, Axis, Mesh, mesh_of
from membill.offload import Link, Movement
from membill.pipeline import Schedule
from membill.precision import Precision
from membill.recipe import Partition, Recipe, divided_at
from membill.recompute import NONE, Policy
from membill.symbols import N_d, m, p, v
from membill.tensor import count

Item = TypeVar("Item")

FIELDS = ("recompute", "dtype_bytes", "precision", "recipe", "dp", "schedule", "offload", "link")
"""Settings that are there whatever spec packages declare."""

LETTERS = {"pp": p, "micro_batches": m, "chunks": v}
"""Settings of a pipeline, and the letters that they are values for."""


@dataclass(frozen=True)
class Plan:
    """How layers are run, checked: made by `plan`.

    recompute: what is run again in backward. dtype_bytes: width of the compute dtype.
    mesh: the degrees of parallelism and the rules by which they divide tensors.
    precision: the dtypes of ops, if not all of them run in the compute dtype.
    recipe: what is kept of each parameter. divided: the kinds of that which `devices`
    data-parallel devices divide among them.
    schedule: the order of a pipeline's passes; None for no pipeline. letters: values for its p,
    m and v. offload: what is moved off the device, over `link`.
    """

    recompute: Policy = NONE
    dtype_bytes: sympy.Expr = field(default=sympy.Integer(2))
    mesh: Mesh = UNDIVIDED
    precision: Precision | None = None
    recipe: Recipe | None = None
    divided: frozenset[str] = frozenset()
    devices: sympy.Expr = N_d
    schedule: Schedule | None = None
    letters: Mapping[sympy.Symbol, sympy.Expr] = field(default_factory=dict)
    offload: tuple[Movement, ...] = ()
    link: Link | None = None

    def __post_init__(self) -> None:
        if self.precision is not None and self.dtype_bytes == self.precision.stored.bytes:
            raise InputError(
                f"dtype_bytes = {self.dtype_bytes} with precision {self.precision.name!r}: that "
                f"stores {self.precision.stored} and runs ops in a narrower dtype; give 2 or a "
                "symbol, or no precision"
            )
        if self.letters and self.schedule is None:
            given = next(name for name, letter in LETTERS.items() if letter in self.letters)
            raise InputError(f"{given} says nothing without a schedule: give schedule=...")


@dataclass(frozen=True)
class Settings:
    """What of a plan a layer depends on, by which what was derived for it is looked up."""

    own: tuple[object, ...]
    mesh: tuple[object, ...]
    plan: Plan = field(compare=False)


def settings_of(run: Plan) -> Settings:
    """What of a plan a layer depends on."""
    own = (run.recompute, run.dtype_bytes, run.precision)
    mesh = (*run.mesh.given.items(), run.mesh.open, run.mesh.rules) if run.mesh.given else ()
    return Settings(own, mesh, run)


def plan(base: Plan | None = None, **settings: object) -> Plan:
    """A plan from settings by name, those that are not given taken from `base`.

    recompute: a policy's name, a predicate on ops, or a collection of these and scope paths.
    dtype_bytes: an int or a symbol. precision: a precision's name, or None for one dtype.
    recipe: a recipe's name. dp: data-parallel devices, a symbol unless told; what they divide is
    a setting by the name of each partitioning that spec packages declare (zero=2).
    schedule: a schedule's name; pp, micro_batches and chunks are its p, m and v.
    offload: names of movements. link: a link's name.
    All others are degrees of mesh axes (tp=8, cp=c) or switches of mesh rules (sp=True), as spec
    packages declare them. Degrees and counts are ints or symbols.
    Raises InputError for an unknown setting and for a value that is not allowed.
    """
    base = Plan() if base is None else base
    if not isinstance(base, Plan):
        raise InputError(f"{base!r} is not a plan: give settings by name, such as recompute=...")
    if not settings:
        return base
    axes, rules = registry.everything(Axis), tuple(registry.known().rules)
    in_mesh = {*axes, *(rule.switch for rule in rules if rule.switch)}
    partitions = registry.everything(Partition)
    _check_names(settings, names())
    mesh = {name: value for name, value in settings.items() if name in in_mesh}
    stages = {name: value for name, value in settings.items() if name in partitions}
    letters = {
        LETTERS[name]: count(value, name, "how many")
        for name, value in settings.items()
        if name in LETTERS
    }
    width = settings.get("dtype_bytes", base.dtype_bytes)
    return Plan(
        recompute=registry.policy(settings.get("recompute", base.recompute)),
        dtype_bytes=count(width, "dtype_bytes", "the bytes of an entry"),
        mesh=mesh_of(axes, rules, {**base.mesh.given, **mesh}) if mesh else base.mesh,
        precision=_named(Precision, settings.get("precision", base.precision)),
        recipe=_named(Recipe, settings.get("recipe", base.recipe)),
        divided=_divided(stages) if stages else base.divided,
        devices=count(settings.get("dp", base.devices), "dp", "how many"),
        schedule=_named(Schedule, settings.get("schedule", base.schedule)),
        letters={**base.letters, **letters},
        offload=_movements(settings.get("offload", base.offload)),
        link=_named(Link, settings.get("link", base.link)),
    )


def names() -> set[str]:
    """The names of all settings of a plan."""
    switches = {rule.switch for rule in registry.known().rules if rule.switch}
    axes, partitions = registry.everything(Axis), registry.everything(Partition)
    return {*FIELDS, *LETTERS, *axes, *switches, *partitions}


def _check_names(settings: Mapping[str, object], allowed: set[str]) -> None:
    for name in settings:
        if name not in allowed:
            raise unknown("setting", name, allowed, "of a plan")


def _named(kind: type[Item], given: object) -> Item | None:
    return given if given is None or isinstance(given, kind) else registry.find(kind, given)


def _divided(stages: Mapping[str, object]) -> frozenset[str]:
    kinds = (divided_at(registry.find(Partition, name), stage) for name, stage in stages.items())
    return frozenset[str]().union(*kinds)


def _movements(given: object) -> tuple[Movement, ...]:
    if isinstance(given, str) or not isinstance(given, (list, tuple, set, frozenset)):
        raise InputError(f"offload = {given!r}: give a collection of movements' names")
    found = (_named(Movement, each) for each in given)
    return tuple(movement for movement in found if movement is not None)
