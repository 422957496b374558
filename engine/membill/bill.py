"""The bill: all that one device holds of a model under a plan, by category, as formulas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import sympy

from membill.asked import Count, asked
from membill.errors import InputError
from membill.formula import Formula
from membill.ledger import Row, total
from membill.models import Model
from membill.offload import Movement, Traffic, traffic
from membill.parts import ACTIVATIONS, LAYERS, Part, trains
from membill.plans import Plan
from membill.recipe import Recipe, states_of, under
from membill.shares import ONE, Share, Shares, shares
from membill.state import Weight
from membill.symbols import named, p
from membill.tensor import product

TABLES, BUFFERS = "tables", "buffers"

LEFT_OUT = (
    "the CUDA context, libraries' workspaces and communication buffers",
    "rounding of allocations and fragmentation, unless a margin is asked for",
    "what a compiler keeps or drops: counts are for PyTorch's eager mode",
)
"""What no bill counts, in words."""


@dataclass(frozen=True)
class Entry:
    """A line of the bill: bytes of one category, and the part of the model that they belong to.

    part: a layer's name, or that of the function that comes once; empty for the whole model.
    moved: what moves it off the device, if the plan does.
    """

    category: str
    part: str
    bytes: Formula
    moved: Movement | None = None


@dataclass(frozen=True)
class Bill:
    """What one device holds of a model, all at once.

    stage: of the pipeline, from 0. values: numbers for letters. recipe: what is kept of each
    parameter. parameters: how many the device holds. margin: a share added for fragmentation.
    """

    model: Model
    plan: Plan
    recipe: Recipe
    stage: int
    values: Mapping[str, int]
    shares: Shares
    entries: tuple[Entry, ...]
    parameters: Formula
    margin: Fraction | None = None

    @cached_property
    def categories(self) -> Mapping[str, Formula]:
        """The sum of each category, in the order of the bill."""
        groups: dict[str, list[Formula]] = {}
        for entry in self.entries:
            groups.setdefault(entry.category, []).append(entry.bytes)
        return {name: total(sizes) for name, sizes in groups.items()}

    @cached_property
    def total(self) -> Formula:
        """All bytes on the device: every entry that is not moved off it, without the margin."""
        return total(entry.bytes for entry in self.entries if not entry.moved)

    @property
    def moved(self) -> tuple[tuple[Movement, Traffic], ...]:
        """What the plan moves off the device, with the bytes that a step moves."""
        return tuple(
            (
                movement,
                traffic(movement, total(e.bytes for e in self.entries if e.moved == movement)),
            )
            for movement in self.plan.offload
        )

    def size(self, formula: Formula) -> int:
        """A formula of the bill in bytes; InputError if a letter has no value."""
        return int(formula(**self.values))

    @property
    def bytes(self) -> int:
        """The total in bytes, with the margin, rounded up."""
        own = self.size(self.total)
        return own + self.margin_bytes

    @property
    def margin_bytes(self) -> int:
        """What the margin adds: a share of the total, rounded up to a byte; 0 without one."""
        return -int(-self.size(self.total) * (self.margin or 0) // 1)

    @property
    def left_out(self) -> tuple[str, ...]:
        """What is not counted, in words."""
        return LEFT_OUT


def bill(
    model: Model,
    plan: Plan | None = None,
    *,
    stage: int | None = None,
    margin: object = None,
    specialise: bool = True,
    statistics: bool = True,
    **settings: Any,
) -> Bill:
    """The bill of a model under a plan.

    settings: numbers for letters besides the model's dimensions (b=1, T=8192), and settings of a
    plan, as in `membill.plan`; without a recipe among them, the usual one. stage: of the pipeline,
    from 0; the fullest unless told. margin: a share from 0.1 to 0.2 to add for fragmentation.
    specialise, statistics: as in `Layer.ledger`. Raises InputError for what is not allowed.
    """
    run, how = asked(
        model, plan, margin=margin, specialise=specialise, statistics=statistics, **settings
    )
    if stage is not None or run.schedule is None:
        return of_stage(model, run, stage or 0, how)
    return max(every_stage(model, run, how), key=lambda each: each.bytes)


def stages(
    model: Model,
    plan: Plan | None = None,
    *,
    margin: object = None,
    specialise: bool = True,
    statistics: bool = True,
    **settings: Any,
) -> tuple[Bill, ...]:
    """The bill of every stage of a pipeline; one without a schedule. Arguments as in `bill`."""
    run, how = asked(
        model, plan, margin=margin, specialise=specialise, statistics=statistics, **settings
    )
    return tuple(every_stage(model, run, how))


def every_stage(model: Model, plan: Plan, how: Count) -> Iterator[Bill]:
    """The bill of each stage of the plan's pipeline; InputError if pp is not a number."""
    degree = plan.letters.get(p) if plan.schedule else ONE
    if degree is None or not degree.is_Integer:
        raise InputError("pp has no number: give pp=..., or name a stage")
    for index in range(int(degree)):
        yield of_stage(model, plan, index, how)


def of_stage(model: Model, plan: Plan, stage: int, how: Count) -> Bill:
    """The bill of one stage of a plan that has a recipe."""
    if plan.recipe is None:
        raise InputError("the plan has no recipe: give recipe=...")
    model = model.resized(**how.values)
    own = shares(model, plan, stage, how.values)
    parameters = _parameters(own.items, plan, how)
    entries = (
        *state_entries(own.items, parameters, plan, plan.recipe, how),
        *_activations(own.items, plan, how),
        *_shared(own.items, plan, how),
    )
    return Bill(
        model,
        plan,
        plan.recipe,
        stage,
        how.values,
        own,
        tuple(settled(entry, plan, own) for entry in entries if entry.bytes.expr != 0),
        parameters,
        how.margin,
    )


def settled(entry: Entry, plan: Plan, own: Shares) -> Entry:
    """The entry with the pipeline's letters put in, under the conditions of its stages."""
    conditions = (*entry.bytes.conditions, *own.conditions)
    if not plan.letters and not conditions:
        return entry
    size = replace(entry.bytes, conditions=conditions).subs(dict(plan.letters))
    return replace(entry, bytes=size)


def _parameters(items: Iterable[Share], plan: Plan, how: Count) -> Formula:
    """How many parameters are on the device."""
    held = (how.ledger(share.part, plan).parameters() * share.number for share in items)
    return total(held, "parameters")


def as_weight(part: Part, row: Row) -> Weight:
    """A weight of the ledger as a recipe sees it."""
    stack, rows = row.stacked, row.stacked + row.rows
    return Weight(
        row.tensor,
        product(row.shape[stack:rows]),
        product(row.shape[rows:]),
        product(row.shape[:stack]),
        matrix=row.rows > 0,
        hidden=part.where == LAYERS,
        trainable=trains(part, row),
        groups=row.shape[rows] if len(row.shape) > rows + 1 else sympy.Integer(1),
    )


def state_entries(
    items: Iterable[Share], parameters: Formula, plan: Plan, recipe: Recipe, how: Count
) -> Iterator[Entry]:
    """What the recipe keeps; it holds where the number of all these parameters does."""
    rows = states_of(
        recipe,
        [
            (as_weight(share.part, row), share.number)
            for share in items
            for row in how.ledger(share.part, plan).weights
        ],
        divided=plan.divided,
        devices=plan.devices,
        dtype_bytes=plan.dtype_bytes,
        sizes={named(name).symbol: size for name, size in how.values.items()},
    )
    for row in rows:
        yield Entry(row.state.name, "", under(row.bytes, parameters), gone_by(plan, row.state.kind))


def _activations(items: Iterable[Share], plan: Plan, how: Count) -> Iterable[Entry]:
    """What parts keep; layers of one name, wherever they stand in the pattern, are one entry."""
    gone = gone_by(plan, ACTIVATIONS)
    found: dict[object, Entry] = {}
    for share in items:
        part = share.part
        kept = how.ledger(part, plan).total() * (share.number * share.held)
        key = (part.where, part.name)
        if key in found:
            kept = found[key].bytes + kept
        moved = gone if part.where == LAYERS else None
        found[key] = Entry(part.category, part.name, kept, moved)
    return found.values()


def _shared(items: Iterable[Share], plan: Plan, how: Count) -> Iterator[Entry]:
    """Tables that layers share, once each, and the buffers of modules."""
    tables: dict[object, Entry] = {}
    for share in items:
        ledger = how.ledger(share.part, plan)
        for row in ledger.tables:
            tables[row.tensor, row.shape] = Entry(TABLES, row.tensor, row.bytes)
        buffers = total(row.bytes for row in ledger.buffers) * share.number
        yield Entry(BUFFERS, share.part.name, buffers)
    yield from tables.values()


def gone_by(plan: Plan, kind: str) -> Movement | None:
    """The movement of a plan that takes a kind of bytes off the device, if any does."""
    return next((movement for movement in plan.offload if movement.what == kind), None)
