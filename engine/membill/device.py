"""A device in a step: the parts that it runs, in order, and what is on it while each one runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import sympy

from membill.asked import Count
from membill.bill import BUFFERS, TABLES, Bill, Entry, gone_by, settled, state_entries
from membill.errors import InputError
from membill.formula import Condition, Formula
from membill.ledger import total
from membill.moments import Fullest, Priced, Way, priced
from membill.parts import ACTIVATIONS, END, LAYERS, START, Part
from membill.recipe import GRADIENTS, WEIGHTS
from membill.shares import NONE, ONE, Share
from membill.symbols import beta, m

OUTPUTS, BATCH = "outputs held", "batch"
WORKING, GATHERED, UPDATE = "working set", "gathered weights", "made by the update"

Number = Callable[["Item"], sympy.Expr]
"""How many of an item."""


@dataclass(frozen=True, eq=False)
class Item:
    """A part on a device, with its place in the order of the forward pass.

    group, slot: parts of one group take turns, in the order of their slots. tables: those that no
    part before it reads.
    """

    share: Share
    group: int
    slot: int
    usual: Priced
    first: Priced
    tables: tuple[Formula, ...]
    weights: Formula

    @property
    def part(self) -> Part:
        """The part of the model."""
        return self.share.part


@dataclass(frozen=True, eq=False)
class Device:
    """A device under a plan, as its bill has it, and how a step is run on it.

    held: whether what the model returns besides its output lives to the end of the step.
    in_place: as in `membill.backward.backward`. fused: whether the update makes nothing besides.
    """

    bill: Bill
    how: Count
    held: bool = True
    in_place: bool = True
    fused: bool = False

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The parts that the device runs, in the order of the forward pass."""
        groups = self.bill.model.groups
        places = {part: (g, s) for g, group in enumerate(groups) for s, part in enumerate(group)}
        ends = {START: (-1, 0), END: (len(groups), 0)}
        seen = set[object]()
        found = []
        for share in self.bill.shares.items:
            part = share.part
            group, slot = ends.get(part.where) or places[part]
            ledger = self.how.ledger(part, self.bill.plan)
            new = {(r.tensor, r.shape): r.bytes for r in ledger.tables}
            own = tuple(size for key, size in new.items() if key not in seen)
            seen |= new.keys()
            usual = self._priced(part, first=False)
            first = self._priced(part, first=True) if own else usual
            weights = total(row.bytes for row in ledger.weights)
            found.append(Item(share, group, slot, usual, first, own, weights))
        return tuple(sorted(found, key=lambda item: (item.group, item.slot)))

    @cached_property
    def shared(self) -> tuple[Formula, ...]:
        """The bytes of weights that two parts share; the gradient of one waits for the other's."""
        plan, how = self.bill.plan, self.how
        return tuple(
            row.bytes
            for item in self.items
            for row in how.ledger(replace(item.part, dropped=frozenset()), plan).weights
            if row.tensor in item.part.dropped
        )

    def _priced(self, part: Part, first: bool) -> Priced:
        plan = self.bill.plan
        added = self.added and GRADIENTS not in plan.divided
        return priced(part, plan, Way(first, self.in_place, added, self.how.specialise))

    @cached_property
    def added(self) -> bool:
        """Whether gradients of weights are added to ones that are there from the start.

        So they are over several micro-batches, and where they are kept in another dtype than that
        of the weights. Raises InputError for a recipe without gradients.
        """
        plan, recipe = self.bill.plan, self.bill.recipe
        kinds = [state.dtype for state in recipe.states if state.kind == GRADIENTS]
        if not kinds:
            raise InputError(f"recipe {recipe.name!r} keeps no gradients: nothing runs backward")
        own = plan.precision.stored.bytes if plan.precision else beta
        widths = {each.bytes.subs(beta, plan.dtype_bytes) for each in kinds}
        several = plan.schedule is not None and plan.letters.get(m, m) != 1
        return several or widths != {own.subs(beta, plan.dtype_bytes)}

    def kind(self, entry: Entry) -> str:
        """The kind of the state that a line of the bill is of; empty if of none."""
        kinds = {state.name: state.kind for state in self.bill.recipe.every}
        return "" if entry.part else kinds.get(entry.category, "")

    @cached_property
    def always(self) -> tuple[Entry, ...]:
        """What is there all the time: states but for gradients, buffers, the batch."""
        kept = (
            entry
            for entry in self.bill.entries
            if not entry.moved
            and (self.kind(entry) not in ("", GRADIENTS) or entry.category == BUFFERS)
        )
        batch = (self.entry(BATCH, item, item.usual.batch * item.share.held) for item in self.items)
        return (*kept, *batch)

    def kept(self, left: Number) -> Iterator[Entry]:
        """What parts keep for backward, of so many of each."""
        away = gone_by(self.bill.plan, ACTIVATIONS)
        for item in self.items:
            if away is None or item.part.where != LAYERS:
                yield self.entry(item.part.category, item, item.usual.kept * left(item))

    def tables(self, there: Callable[[Item], bool]) -> Iterator[Entry]:
        """The tables of items."""
        for item in self.items:
            if there(item):
                yield from (self.entry(TABLES, item, size) for size in item.tables)

    def outputs(self, root: bool) -> Iterator[Entry]:
        """What the model returns; and the gradient of that, if `root`."""
        for item in self.items:
            if item.part.where == END:
                held = item.usual.held if self.held else item.usual.output
                yield self.entry(OUTPUTS, item, held)
                if root:
                    yield self.entry(WORKING, item, item.usual.output)

    @property
    def all_gradients(self) -> tuple[Entry, ...]:
        """The gradients of all weights."""
        entries = self.bill.entries
        return tuple(e for e in entries if self.kind(e) == GRADIENTS and not e.moved)

    def gradients(self, done: Number) -> Iterator[Entry]:
        """Those that are there once backward of so many of each item has run."""
        if self.added:
            yield from self.all_gradients
            for item in self.items:
                if item.part.dropped and done(item) != 0:
                    yield from (self.entry(WORKING, item, size) for size in self.shared)
            return
        plan = self.bill.plan
        if gone_by(plan, GRADIENTS):
            return
        size = total(item.usual.gradients * done(item) for item in self.items)
        if GRADIENTS in plan.divided:
            size = _divided(size, plan.devices)
        yield settled(Entry(GRADIENTS, "", size), plan, self.bill.shares)

    def moment(self, item: Item, at: Fullest) -> Iterator[Entry]:
        """What an item has alive at one of its moments, beyond what is there without it."""
        plan, divided = self.bill.plan, self.bill.plan.divided
        made = at.latest if self.added and GRADIENTS not in divided else at.made
        yield self.entry(item.part.category, item, at.kept)
        yield self.entry(GRADIENTS, item, made)
        yield self.entry(WORKING, item, at.working)
        if WEIGHTS in divided or gone_by(plan, WEIGHTS):
            yield self.entry(GATHERED, item, item.weights)

    def norms(self) -> Iterator[Entry]:
        """What clipping by the norm of all gradients makes: each one's norm, twice, and theirs."""
        plan = self.bill.plan
        dtype = next(s.dtype for s in self.bill.recipe.states if s.kind == GRADIENTS)
        width = dtype.bytes.subs(beta, plan.dtype_bytes)
        number = sympy.Add(*(item.share.number * _trained(item.part) for item in self.items))
        size = Formula((2 * number + 1) * width, "bytes")
        yield settled(Entry(WORKING, "", size), plan, self.bill.shares)

    def update(self) -> Iterator[Entry]:
        """What the recipe's update makes besides, unless it is fused."""
        if self.fused:
            return
        recipe = replace(self.bill.recipe, states=self.bill.recipe.step, frozen=())
        shares, plan = self.bill.shares, self.bill.plan
        parameters = self.bill.parameters
        for entry in state_entries(shares.items, parameters, plan, recipe, self.how):
            yield settled(replace(entry, category=UPDATE, moved=None), plan, shares)

    def entry(self, category: str, item: Item, size: Formula) -> Entry:
        """A line of bytes of an item."""
        own = Entry(category, item.part.name, size)
        return settled(own, self.bill.plan, self.bill.shares)


def ahead(item: Item, *, first: bool) -> Number:
    """How many of each item run backward before one of `item` does: its last layer, or its first.

    Where there are several kinds of layers, the others of its group are taken to be in turn.
    """

    def number(other: Item) -> sympy.Expr:
        whole = other.share.number
        if other.group != item.group:
            return whole if other.group > item.group else NONE
        later = other.slot > item.slot
        return (whole if later else whole - 1) if first else (ONE if later else NONE)

    return number


def _trained(part: Part) -> int:
    """How many weights of a part take a gradient, shared ones counted elsewhere."""
    return len(part.layer.trainable_labels() - part.dropped)


def _divided(size: Formula, among: sympy.Expr) -> Formula:
    """One device's share, rounded up among a number of devices."""
    if among.is_Integer:
        return replace(size, expr=sympy.ceiling(size.expr / among))
    condition = Condition(among, size.expr)
    return replace(size, expr=size.expr / among, conditions=(*size.conditions, condition))


def present(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """The lines that are not 0."""
    return tuple(entry for entry in entries if entry.bytes.expr != 0)
