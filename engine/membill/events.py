"""The moments of a training step that can be its fullest, each with all bytes on the device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import sympy

from membill.bill import Entry
from membill.device import Device, Item, Number, ahead, present
from membill.formula import Formula
from membill.ledger import total
from membill.moments import Fullest
from membill.parts import END, LAYERS, START
from membill.shares import NONE, ONE

FORWARD, FORWARD_ENDS, BACKWARD, AGAIN = "forward", "end of forward", "backward", "recomputation"
CLIPPING, UPDATE = "clipping", "update"
FIRST, LAST = "first layer", "last layer"


@dataclass(frozen=True, eq=False)
class Event:
    """A moment at which a device may be fullest.

    phase: FORWARD, FORWARD_ENDS, BACKWARD, AGAIN, CLIPPING or UPDATE. part: what runs, place:
    which of its layers, path: at which op; empty where that says nothing. entries: all bytes on the
    device. times: how often there is such a layer, which may be never.
    """

    phase: str
    part: str
    place: str
    path: str
    entries: tuple[Entry, ...]
    times: sympy.Expr = ONE

    @property
    def name(self) -> str:
        """The event in words: "backward of llama, last layer, at mlp.product"."""
        of = f"{self.phase} of {self.part}" if self.part else self.phase
        return ", ".join(filter(None, (of, self.place, self.path and f"at {self.path}")))

    @property
    def categories(self) -> Mapping[str, Formula]:
        """The sum of each category."""
        groups: dict[str, list[Formula]] = {}
        for entry in self.entries:
            groups.setdefault(entry.category, []).append(entry.bytes)
        return {name: total(sizes) for name, sizes in groups.items()}

    @property
    def total(self) -> Formula:
        """All bytes."""
        return total(entry.bytes for entry in self.entries)


def events(device: Device, *, clip: bool = False) -> Iterator[Event]:
    """Every event of a step, in order. clip: whether gradients are clipped by their norm."""
    yield from _forward(device)
    yield from _backward(device)
    if clip:
        yield _after(device, CLIPPING, device.norms())
    yield _after(device, UPDATE, device.update())


def _forward(device: Device) -> Iterator[Event]:
    """Forward of the last layer of each kind and of the end, and when it is over."""
    for item in device.items:
        left = _left(item, ahead(item, first=False))
        results = device.outputs(root=False) if item.part.where == END else ()
        before = (*_so_far(device, left), *results)
        for at in item.usual.passing:
            entries = present((*before, *device.moment(item, at)))
            yield Event(FORWARD, item.part.name, _place(item, first=False), at.path, entries)
    everything = _so_far(device, lambda item: item.share.number * item.share.held)
    entries = present((*everything, *device.outputs(root=False)))
    yield Event(FORWARD_ENDS, "", "", "", entries)


def _so_far(device: Device, left: Number) -> Iterator[Entry]:
    """What is there in forward, with what so many of each part keep."""
    yield from device.always
    yield from device.kept(left)
    yield from device.tables(lambda _: True)
    if device.added:
        yield from device.all_gradients


def _backward(device: Device) -> Iterator[Event]:
    """Backward of the end, of the last and the first layer of each kind, of the start."""
    for item in reversed(device.items):
        if item.part.where == LAYERS:
            for at in item.usual.moments:
                yield _of(device, item, at, first=False)
        for at in item.first.moments:
            yield _of(device, item, at, first=True)
        if item.part.where == START and not device.in_place:
            yield from _tied(device, item)


def _of(device: Device, item: Item, at: Fullest, *, first: bool) -> Event:
    phase = AGAIN if at.again else BACKWARD
    times = item.share.number if first else item.share.number - 1
    entries = (*around(device, item, ahead(item, first=first), first), *device.moment(item, at))
    return Event(phase, item.part.name, _place(item, first), at.path, present(entries), times)


def around(device: Device, item: Item, done: Number, first: bool) -> Iterator[Entry]:
    """All that is on the device besides an item that runs backward, after so many of each.

    first: whether it is the first of its kind, the last one to run backward.
    """

    def there(other: Item) -> bool:
        if other is item:
            return not first
        return other.group < item.group or (
            other.group == item.group and (not first or other.slot < item.slot)
        )

    yield from device.always
    yield from device.kept(_left(item, done))
    yield from device.tables(there)
    yield from device.outputs(root=True)
    yield from device.gradients(done)


def _tied(device: Device, item: Item) -> Iterator[Event]:
    """The gradients of a weight that two parts share are added into a third storage."""
    none = Formula(sympy.Integer(0), "bytes")
    for size in device.shared:
        at = Fullest("sum", False, none, size, item.usual.gradients, size)
        yield _of(device, item, at, first=True)


def _after(device: Device, phase: str, besides: Iterable[Entry]) -> Event:
    """What is there after backward, and `besides`."""
    entries = (*device.always, *device.all_gradients, *device.outputs(root=False), *besides)
    return Event(phase, "", "", "", present(entries))


def _left(item: Item, done: Number) -> Number:
    """How many of each part keep what backward needs besides one of an item that runs.

    done: how many have run backward in this micro-batch, or have still to run forward.
    """

    def left(other: Item) -> sympy.Expr:
        own = ONE if other is item else NONE
        return other.share.number * other.share.held - done(other) - own

    return left


def _place(item: Item, first: bool) -> str:
    if item.part.where != LAYERS:
        return ""
    return FIRST if first else LAST
