"""A training step from its first layer forward to its update, as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby

import sympy

from membill.bill import Entry
from membill.device import Device, Item, Number
from membill.events import BACKWARD, CLIPPING, FORWARD, FORWARD_ENDS, UPDATE, around
from membill.parts import LAYERS
from membill.peak import Peak, number, sized

OVER = "end of step"


@dataclass(frozen=True)
class Point:
    """A moment of the step: what ran, and the bytes on the device by category.

    layer: its number, counted from 0; None for what is no layer. path: of the op, or empty.
    """

    phase: str
    part: str
    layer: int | None
    path: str
    categories: Mapping[str, int]

    @property
    def bytes(self) -> int:
        """All of them."""
        return sum(self.categories.values())


def timeline(peak: Peak, **values: int) -> tuple[Point, ...]:
    """Forward after each layer, backward of each at its fullest, and the update.

    values: for letters, before those of the peak. Raises InputError for a letter without one.
    """
    device, sizes = peak.device, _sizes({**peak.bill.values, **values})
    run = order(peak, **values)
    layers = [at for at, item in enumerate(run) if item.part.where == LAYERS]

    def point(phase: str, at: int, path: str, found: Mapping[str, int]) -> Point:
        layer = at - layers[0] if at in layers else None
        return Point(phase, run[at].part.name, layer, path, found)

    def plain(phase: str, entries: Iterable[Entry]) -> Point:
        return Point(phase, "", None, "", sizes(entries))

    @cache
    def moments(item: Item, first: bool) -> tuple[tuple[str, Counter[str]], ...]:
        found = (item.first if first else item.usual).moments
        return tuple((each.path, sizes(device.moment(item, each))) for each in found)

    def backward(at: int) -> Point:
        item, first = run[at], run[at] not in run[:at]
        path, own = max(moments(item, first), key=lambda each: each[1].total())
        return point(
            BACKWARD, at, path, sizes(around(device, item, _among(run[at + 1 :]), first)) + own
        )

    ends = (event for event in peak.events if event.phase in (FORWARD_ENDS, CLIPPING, UPDATE))
    forward_ends, *after = (plain(event.phase, event.entries) for event in ends)
    return (
        *(point(FORWARD, at, "", sizes(_forward(device, run[: at + 1]))) for at in range(len(run))),
        forward_ends,
        *(backward(at) for at in reversed(range(len(run)))),
        *after,
        plain(OVER, device.always),
    )


def order(peak: Peak, **values: int) -> list[Item]:
    """Every part that the device runs, each as often as it does, in the order of forward.

    Raises InputError for a letter without a value.
    """
    found: list[Item] = []
    for _, each in groupby(peak.device.items, key=lambda item: item.group):
        group = [(item, number(item.share.number, peak, values)) for item in each]
        turns = max(times for _, times in group)
        found += [item for turn in range(turns) for item, times in group if turn < times]
    return found


def _sizes(values: Mapping[str, int]) -> Callable[[Iterable[Entry]], Counter[str]]:
    """What gives the bytes of lines by category."""
    size = sized(values)

    def sizes(entries: Iterable[Entry]) -> Counter[str]:
        found = Counter[str]()
        for entry in entries:
            found[entry.category] += size(entry)
        return +found

    return sizes


def _among(items: Iterable[Item]) -> Number:
    found = Counter(items)
    return lambda item: sympy.Integer(found[item])


def _forward(device: Device, run: list[Item]) -> Iterator[Entry]:
    """What is there after forward of some parts."""
    counted = _among(run)
    yield from device.always
    yield from device.kept(lambda item: item.share.number * (item.share.held - 1) + counted(item))
    yield from device.tables(lambda item: item in run)
    if device.added:
        yield from device.all_gradients
