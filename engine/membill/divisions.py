"""Ways to divide a number of devices among data, tensor, pipeline ... parallelism."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import gcd, isqrt, prod

import sympy

from membill import registry
from membill.errors import InputError
from membill.mesh import Axis, mesh_of, shard
from membill.models import Model
from membill.pipeline import Schedule
from membill.plans import Plan
from membill.symbols import i, m, p

DATA, PIPELINE = "dp", "pp"

Degrees = Mapping[str, int]


def divisions(
    model: Model, plan: Plan, gpus: int, values: Mapping[str, int], given: Degrees
) -> Iterator[Degrees]:
    """Every way to divide the devices, each a degree by name; those given are as they are.

    Left out are axes that divide nothing of the model, and degrees by which something cannot be
    divided. Raises InputError if the degrees given do not divide the devices.
    """
    fixed = prod(given.values())
    if gpus % fixed:
        named = " ".join(f"{name}={degree}" for name, degree in given.items())
        raise InputError(f"gpus = {gpus}: {named} takes a multiple of {fixed}")
    free = [name for name in useful(model, plan) if name not in given]
    allowed = {name: degrees(name, values) for name in free}
    if PIPELINE not in given:
        allowed[PIPELINE] = divisors(_layers(model, values))
    for chosen in _products(gpus // fixed, allowed):
        rest = gpus // fixed // prod(chosen.values())
        if DATA not in given or rest == 1:
            yield {DATA: rest, **chosen, **given}


def _products(gpus: int, allowed: Mapping[str, Sequence[int]]) -> Iterator[Degrees]:
    """Every choice of degrees whose product divides the devices."""
    if not allowed:
        yield {}
        return
    (name, own), *others = allowed.items()
    for degree in own:
        if gpus % degree == 0:
            for rest in _products(gpus // degree, dict(others)):
                yield {name: degree, **rest}


def degrees(name: str, values: Mapping[str, int]) -> list[int]:
    """The degrees of an axis by which all that it divides can be divided."""
    sizes = [
        values[str(rule.symbol)]
        for rule in registry.known().rules
        if rule.axis == name and not rule.replicate and not rule.switch
        if str(rule.symbol) in values
    ]
    return divisors(gcd(*sizes) or 1)


def divisors(whole: int) -> list[int]:
    """All divisors of a number > 0, in order."""
    small = [each for each in range(1, isqrt(whole) + 1) if whole % each == 0]
    return sorted({*small, *(whole // each for each in small)})


def _layers(model: Model, values: Mapping[str, int]) -> int:
    letters = model.layers.free_symbols
    return int(model.layers.subs({letter: values[str(letter)] for letter in letters}))


def useful(model: Model, plan: Plan) -> list[str]:
    """The axes that divide a tensor of the model."""
    axes, rules = registry.everything(Axis), tuple(registry.known().rules)
    rows = [row for part in model.parts for row in part.ledger(plan, specialise=False).entries]
    shapes = {row.shape for row in rows}
    meshes = {name: mesh_of(axes, rules, {name: axis.symbol}) for name, axis in axes.items()}
    return [
        name
        for name, mesh in meshes.items()
        if any(shard(shape, mesh).conditions for shape in shapes)
    ]


def replicas(of: Degrees) -> int:
    """Devices of a division that have sequences of their own."""
    axes = registry.everything(Axis)
    return prod(
        degree for name, degree in of.items() if name == DATA or (name in axes and axes[name].data)
    )


@cache
def leanest_schedule(stages: int, micro_batches: int) -> str:
    """The schedule without chunks that holds the fewest micro-batches, the first of equals."""

    def held(schedule: Schedule) -> int:
        at = [{p: stages, m: micro_batches, i: stage} for stage in range(stages)]
        return sum(int(schedule.in_flight.xreplace(_integers(each))) for each in at)

    plain = (each for each in registry.everything(Schedule).values() if not each.chunked)
    return min(plain, key=held).name


def _integers(numbers: Mapping[sympy.Symbol, int]) -> dict[sympy.Symbol, sympy.Integer]:
    return {letter: sympy.Integer(number) for letter, number in numbers.items()}
