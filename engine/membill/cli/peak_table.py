"""The peak of a step under the table of a bill: what is on the device, moment by moment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from membill.bill import Bill
from membill.cli.bill_tables import Columns, known
from membill.cli.output import Section
from membill.peak import Peak, peak_of
from membill.recipe import GRADIENTS
from membill.tables import Table


def peak_sections(bill: Bill, columns: Columns) -> list[Section]:
    """The largest moment of each part of a step; none where a letter has no value."""
    found = peak_where_known(bill)
    if found is None:
        return []
    most = found.event
    rows = tuple(
        (event.name, *(write(size) for _, write in columns.values()), "peak" * (event is most))
        for event, size in found.each().items()
    )
    titles = (title for title, _ in columns.values())
    table = Table(("moment", *titles, " "), rows)
    return [Section("peak of a step, without a margin", table)]


def peak_data(bill: Bill) -> Mapping[str, Any] | None:
    """The same as data, the peak itself by category; None where a letter has no value."""
    found = peak_where_known(bill)
    if found is None:
        return None
    event = found.event
    return {
        "at": event.name,
        "bytes": found.bytes,
        "categories": {name: bill.size(size) for name, size in event.categories.items()},
        "moments": [{"at": each.name, "bytes": size} for each, size in found.each().items()],
    }


def peak_where_known(bill: Bill) -> Peak | None:
    """The peak, if all letters have values and the recipe trains anything."""
    trains = any(state.kind == GRADIENTS for state in bill.recipe.states)
    return peak_of(bill) if trains and known(bill, bill.total) else None
