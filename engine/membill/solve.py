"""The questions that a bill answers backwards: what is the most, or the least, that fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sympy

from membill import registry
from membill.asked import Count, asked
from membill.bill import Bill, bill
from membill.bounds import coefficients, largest
from membill.divisions import degrees
from membill.errors import InputError, unknown
from membill.fit import fewest
from membill.formula import Formula
from membill.limits import limit
from membill.mesh import Axis
from membill.models import Model
from membill.needs import Need, budget, check, most, needed, numbered, with_margin
from membill.offers import Offer
from membill.plans import Plan
from membill.plans import plan as make_plan
from membill.recipe import Partition
from membill.symbols import M, T, b

GPUS = "gpus"
LETTERS = {str(symbol): symbol for symbol in (T, b)}


@dataclass(frozen=True)
class Solution:
    """The most, or the least, of something that fits into a device's memory.

    value: of `name`. If nothing fits it is 0 for a letter and None for all else. bill: at that
    value; None if nothing fits. needed: bytes at the fullest moment of a step there, with the
    margin, on the fullest device. at: that moment in words. left: what that leaves of the memory;
    below 0 if nothing fits, for what misses by least. All are None if no number of devices is
    enough. size: for a letter, what must be at most the memory, in letters: what is largest at
    its next value; None if it is the model that allows no more. offer: for devices, how they are
    divided.
    """

    name: str
    value: int | None
    bill: Bill | None
    needed: int | None
    at: str | None
    left: int | None
    size: Formula | None = None
    offer: Offer | None = None

    @property
    def form(self) -> sympy.Expr | None:
        """The letter's value before it is rounded down, over the bill's letters and M.

        None for what is no letter, and if there is no closed form.
        """
        if self.size is None:
            return None
        letter = LETTERS[self.name]
        three = coefficients(self.size, letter)
        if three is None:
            return None
        square, slope, rest = three
        if square == 0:
            return (M - rest) / slope
        return (sympy.sqrt(slope**2 + 4 * square * (M - rest)) - slope) / (2 * square)


def solve(
    model: Model, name: str, *, memory: int, plan: Plan | None = None, **settings: Any
) -> Solution:
    """The most or the least of `name` for which a model fits into `memory` bytes of each device.

    What must fit is what a device holds at the fullest moment of a step; with a recipe that trains
    nothing, all that the bill says. name: "T" or "b" for the longest sequence and the largest
    micro-batch; a partitioning ("zero") for its smallest stage; a mesh axis ("tp") for its smallest
    degree; "gpus" for the fewest devices, whichever way they are divided. settings: as in
    `Model.bill`, for all else.
    What must divide what holds for the answer. Raises InputError for what is not allowed.
    """
    ways: Mapping[str, Callable[..., Solution]] = {
        **dict.fromkeys(LETTERS, _largest),
        GPUS: _fewest,
        **dict.fromkeys(registry.everything(Partition), _least),
        **dict.fromkeys(registry.everything(Axis), _least),
    }
    if not isinstance(name, str) or name not in ways:
        raise unknown("question", name, ways)
    if name in settings:
        raise InputError(f"{name} = {settings[name]!r} is given, and asked for")
    return ways[name](model, name, memory, plan, settings)


def _largest(
    model: Model, name: str, memory: int, plan: Plan | None, settings: Mapping[str, Any]
) -> Solution:
    run, how = asked(model, plan, **settings)
    check(model, run, how, LETTERS[name])
    found = largest(model, run, how, LETTERS[name], budget(memory, how.margin))
    top = limit(name, how.values)
    value = found.value if top is None else min(found.value, top // found.step * found.step)
    at: dict[str, Any] = {name: value or found.step}
    own = bill(model, plan, **settings, **at) if value else None
    need = most(numbered(model, {**how.values, **at}), run, how)
    beyond = {name: found.value + found.step}
    size = _binding(model, run, how, beyond) if value == found.value else None
    return Solution(name, value, own, *_told(need, how, memory), size)


def _told(need: Need, how: Count, memory: int) -> tuple[int, str, int]:
    """The bytes that are needed, with the margin; when; and what is left of the memory."""
    size = with_margin(need.bytes, how.margin)
    return size, need.at, memory - size


def _binding(model: Model, run: Plan, how: Count, beyond: Mapping[str, int]) -> Formula:
    """Of what must fit, in letters, what is largest at the first value that is too much."""
    values = {**how.values, **beyond}
    need = most(numbered(model, values), run, how)
    sizes = [each.size for each in needed(model, run, how, need.stage, need.at)]
    if not sizes:  # of equal moments, numbers and letters may have kept different ones
        sizes = [each.size for each in needed(model, run, how, need.stage)]
    return sizes[0] if len(sizes) == 1 else max(sizes, key=lambda size: int(size(**values)))


def _least(
    model: Model, name: str, memory: int, plan: Plan | None, settings: Mapping[str, Any]
) -> Solution:
    """The first stage or degree that fits; if none does, the one that misses by least."""
    run, how = asked(model, plan, **settings)
    room = budget(memory, how.margin)
    last = max(_candidates(name, how.values)) if name in registry.everything(Partition) else 1
    check(model, make_plan(run, **{name: last}), how)
    tried: dict[int, Need] = {}
    for value, need in _each(numbered(model, how.values), name, run, how):
        tried[value] = need
        if need.bytes <= room:
            break
    best = min(tried, key=lambda value: tried[value].bytes)
    fits = tried[best].bytes <= room
    own = bill(model, plan, **{**settings, name: best}) if fits else None
    return Solution(name, best if fits else None, own, *_told(tried[best], how, memory))


def _each(here: Model, name: str, run: Plan, how: Count) -> Iterator[tuple[int, Need]]:
    """Each stage or degree in order, with the most that a device needs then.

    Degrees by which something cannot be divided are passed over; all else that is wrong is so
    for the first of them too, and raised.
    """
    for value in _candidates(name, how.values):
        try:
            yield value, most(here, make_plan(run, **{name: value}), how)
        except InputError:
            if name in registry.everything(Partition) or value == 1:
                raise


def _candidates(name: str, values: Mapping[str, int]) -> list[int]:
    """Stages of a partitioning, or degrees of an axis, in order."""
    if name in registry.everything(Partition):
        return sorted(registry.find(Partition, name).stages)
    return degrees(name, values)


def _fewest(
    model: Model, name: str, memory: int, plan: Plan | None, settings: Mapping[str, Any]
) -> Solution:
    if plan is not None:
        raise InputError(f"{name}: a plan says how many there are; give its settings by name")
    found = fewest(model, memory=memory, **settings)
    if found is None:
        return Solution(name, None, None, None, None, None)
    told = (found.bytes, found.at, found.spare)
    return Solution(name, found.gpus, found.bill, *told, offer=found)
