"""What each stage of a plan changed: the rows that went, came and changed, and the sum after it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from membill.cli.facts import held, needs, on_device, run_again
from membill.cli.output import Fact, Section
from membill.cli.request import Request, formula_data
from membill.diff import Change, Diff, Kind, diff, saves_nothing_of_squares
from membill.tables import Table


def change_sections(request: Request) -> Iterator[Section]:
    """For each stage a table of changes, and facts: what is kept after it, and what it costs."""
    for name, before, after in _stages(request):
        found = diff(before.ledger, after.ledger)
        title = f"changed by {name}"
        if any(map(_seen, found.changes)):
            yield Section(title, _table(found))
            title = ""
        yield Section(title, _facts(before, after, found))


def change_data(request: Request) -> list[dict[str, Any]]:
    """The same for JSON."""
    return [_stage_data(*stage) for stage in _stages(request)]


def _stages(request: Request) -> Iterator[tuple[str, Request, Request]]:
    for (_, before), (name, after) in pairwise(request.stages()):
        yield name, before, after


def _table(found: Diff) -> Table:
    return Table(
        ("tensor", "bytes before", "bytes after", "change", "needed by"),
        tuple(_cells(change) for change in found.changes if _seen(change)),
    )


def _seen(change: Change) -> bool:
    """Whether the cells of a change differ: of two reasons of one op, one may have gone."""
    before, after = change.before, change.after
    same = before and after and before.needed_by == after.needed_by
    return not (change.kind is Kind.REASONED and same)


def _cells(change: Change) -> tuple[str, ...]:
    before, after = ("" if row is None else str(row.bytes) for row in (change.before, change.after))
    needed_by = "" if change.after is None else ", ".join(change.after.needed_by)
    return change.row.tensor, before, after, change.kind.value, needed_by


def _facts(before: Request, after: Request, found: Diff) -> tuple[Fact, ...]:
    total = after.ledger.total()
    by = "no bytes" if found.total.expr == 0 else f"{found.total} {found.total.unit}"
    return (
        ("one layer", held(total, after)),
        ("difference", by),
        *_parameters(before, after),
        *_recomputed(before, after),
        *needs([total, after.ledger.parameters()]),
    )


def _parameters(before: Request, after: Request) -> tuple[Fact, ...]:
    was, now = (request.ledger.parameters() for request in (before, after))
    if was.expr == now.expr:
        return ()
    return (("parameters", f"{now}{on_device(after)}, before {was}"),)


def _recomputed(before: Request, after: Request) -> tuple[Fact, ...]:
    """The price of a stage that recomputes, and if it buys nothing, that it does not."""
    if before.recompute == after.recompute:
        return ()
    words = saves_nothing_of_squares(before.ledger, after.price.rerun)
    return (*run_again(after), *((("saves", words),) if words else ()))


def _stage_data(name: str, before: Request, after: Request) -> dict[str, Any]:
    found = diff(before.ledger, after.ledger)
    total = after.ledger.total()
    return {
        "stage": name,
        "changes": [_change_data(change) for change in found.changes],
        "total": formula_data(total),
        "saves": dict(_recomputed(before, after)).get("saves", ""),
        "conditions": [str(condition) for condition in total.conditions],
    }


def _change_data(change: Change) -> dict[str, Any]:
    before, after = (
        None if row is None else formula_data(row.bytes) for row in (change.before, change.after)
    )
    row = change.row
    return {
        "tensor": row.tensor,
        "change": change.kind.value,
        "before": before,
        "after": after,
        "needed_by": list(row.needed_by) if change.after else [],
    }
