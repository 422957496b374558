"""A bill in a few groups of its categories, as a page shows it to newcomers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from membill import units
from membill.bill import Bill
from membill.formula import Formula
from membill.ledger import total
from membill.render.charts import Bar, Stack


@dataclass(frozen=True)
class Group:
    """Some categories of a bill: their sum as a formula, and in bytes."""

    name: str
    formula: Formula
    bytes: int


def grouped(bill: Bill, kinds: Mapping[str, Collection[str]], rest: str) -> tuple[Group, ...]:
    """The states of these kinds under a name each, and all else under the name `rest`."""
    named = {
        state.name: name
        for name, own in kinds.items()
        for state in bill.recipe.every
        if state.kind in own
    }
    sizes: dict[str, list[Formula]] = {name: [] for name in (*kinds, rest)}
    for category, size in bill.categories.items():
        sizes[named.get(category, rest)].append(size)
    return tuple(
        Group(name, whole, bill.size(whole))
        for name, every in sizes.items()
        for whole in [total(every)]
    )


def stack(groups: Iterable[Group], title: str) -> Stack:
    """The groups as one bar."""
    found = tuple(groups)
    bars = [
        Bar(each.name, each.name, float(each.bytes), f"{each.name} {units.gb(each.bytes)}")
        for each in found
    ]
    return Stack(title, bars, units.gb(sum(each.bytes for each in found)))


__all__ = ["Group", "grouped", "stack"]
