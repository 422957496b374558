"""The peak of a training step: everything on a device at each moment that can be the fullest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy

from membill.asked import Count, asked
from membill.bill import Bill, Entry, every_stage, of_stage
from membill.device import Device
from membill.errors import InputError
from membill.events import Event, events
from membill.formula import Formula
from membill.models import Model
from membill.plans import Plan
from membill.symbols import is_defined, named


@dataclass(frozen=True, eq=False)
class Peak:
    """The events of a step on a device."""

    device: Device
    events: tuple[Event, ...]

    @property
    def bill(self) -> Bill:
        """The device's bill."""
        return self.device.bill

    def sizes(self, **values: int) -> Mapping[Event, int]:
        """The bytes of each event that there is, with these values for letters before its own."""
        return self._sizes(values) if values else self._own_sizes

    @cached_property
    def _own_sizes(self) -> Mapping[Event, int]:
        return self._sizes({})

    def _sizes(self, values: Mapping[str, int]) -> Mapping[Event, int]:
        sizes = sized({**self.bill.values, **values})
        there = (event for event in self.events if number(event.times, self, values) > 0)
        return {event: sum(map(sizes, event.entries)) for event in there}

    def at(self, **values: int) -> Event:
        """The largest event, the first of equals; InputError if a letter has no value."""
        found = self.sizes(**values)
        return max(found, key=lambda event: found[event])

    def each(self, **values: int) -> Mapping[Event, int]:
        """Of events of one phase, part and place, the largest, with its bytes; all in order."""
        found: dict[tuple[str, str, str], tuple[Event, int]] = {}
        for event, size in self.sizes(**values).items():
            key = (event.phase, event.part, event.place)
            if key not in found or size > found[key][1]:
                found[key] = (event, size)
        return dict(found.values())

    @property
    def event(self) -> Event:
        """The largest event at the bill's own values."""
        return self.at()

    @property
    def bytes(self) -> int:
        """The bytes of the largest event."""
        return max(self.sizes().values())


def peak(
    model: Model,
    plan: Plan | None = None,
    *,
    stage: int | None = None,
    held: bool = True,
    in_place: bool = True,
    fused: bool = False,
    clip: bool = False,
    **settings: Any,
) -> Peak:
    """The peak of a step of a model under a plan; settings and errors as in `membill.bill.bill`.

    stage: of the pipeline, the one with the largest peak unless told. held, in_place, fused: as in
    `membill.device.Device`. clip: whether gradients are clipped by the norm of all of them. Raises
    InputError besides for a recipe without gradients.
    """
    run, how = asked(model, plan, **settings)
    step = {"held": held, "in_place": in_place, "fused": fused}

    def on(bill: Bill) -> Peak:
        device = Device(bill, how, **step)
        return Peak(device, tuple(events(device, clip=clip)))

    if stage is not None or run.schedule is None:
        return on(of_stage(model, run, stage or 0, how))
    return max(map(on, every_stage(model, run, how)), key=lambda each: each.bytes)


def peak_of(bill: Bill, how: Count | None = None) -> Peak:
    """The peak of a step on the device of a bill; InputError for a recipe without gradients.

    how: how the bill counts, if not in the usual way.
    """
    device = Device(bill, how or Count(bill.values))
    return Peak(device, tuple(events(device)))


def sized(values: Mapping[str, int]) -> Callable[[Entry], int]:
    """What gives the bytes of a line at these values, each formula evaluated once."""
    known: dict[Formula, int] = {}

    def size(entry: Entry) -> int:
        if entry.bytes not in known:
            known[entry.bytes] = int(entry.bytes(**values))
        return known[entry.bytes]

    return size


def number(expr: sympy.Expr, peak: Peak, values: Mapping[str, int]) -> int:
    """An expression of how many there are, in numbers; InputError if a letter has no value."""
    known = {**peak.bill.values, **values}
    put = {named(name).symbol: size for name, size in known.items() if is_defined(name)}
    number = sympy.sympify(expr).subs({**peak.bill.plan.letters, **put})
    if not number.is_number:
        raise InputError(f"no value for {', '.join(map(str, number.free_symbols))}")
    return int(number)
