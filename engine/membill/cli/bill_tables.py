"""The tables of a bill: what is on the device, what is moved off it, and every stage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from membill import printer, units
from membill.bill import Bill, Entry
from membill.cli.facts import needs
from membill.cli.output import Fact, Section
from membill.formula import Formula
from membill.symbols import p
from membill.tables import Table

Columns = Mapping[str, tuple[str, Callable[[int], str]]]
"""Titles of columns, each with how a size is written in it."""

UNITS: Columns = {
    "B": ("exact", units.exact),
    "GB": ("in GB (10⁹ B)", units.gb),
    "GiB": ("in GiB (2³⁰ B)", units.gib),
}


def known(bill: Bill, size: Formula) -> bool:
    """Whether all letters of a formula of the bill have values."""
    return bill.values.keys() >= set(size.symbols)


def sections(
    bill: Bill, found: Sequence[Bill], columns: Columns, more: Sequence[Section] = ()
) -> list[Section]:
    """A bill, what is offloaded, all stages if there are several, `more`, what is said beside."""
    return [
        Section(_where(bill, found), _table(bill, columns)),
        *_offloaded(bill, columns),
        *([Section("stages", _stage_table(found, bill, columns))] if len(found) > 1 else []),
        *more,
        Section("", _facts(bill)),
        Section("not counted", tuple(("", text) for text in bill.left_out)),
    ]


def _where(bill: Bill, found: Sequence[Bill]) -> str:
    if bill.plan.schedule is None:
        return "on one device"
    stages = printer.text(bill.plan.letters.get(p, p))
    most = ", the one that holds most" if len(found) > 1 else ""
    return f"on one device of stage {bill.stage} of {stages}{most}"


def _table(bill: Bill, columns: Columns) -> Table:
    """What stays on the device, then the sum, and a margin by itself."""
    rows = _rows(bill, (entry for entry in bill.entries if not entry.moved), columns)
    rows.append(("total", "", *_sizes(bill, bill.total, columns), str(bill.total)))
    if bill.margin is not None:
        added = f"{units.percent(bill.margin)} margin, for fragmentation"
        numbers = ((added, bill.margin_bytes), ("with the margin", bill.bytes))
        rows += [(name, "", *_written(size, columns), "") for name, size in numbers]
    return _titled(rows, columns)


def _rows(bill: Bill, entries: Iterable[Entry], columns: Columns) -> list[tuple[str, ...]]:
    return [
        (entry.category, entry.part, *_sizes(bill, entry.bytes, columns), str(entry.bytes))
        for entry in entries
    ]


def _titled(rows: Iterable[tuple[str, ...]], columns: Columns) -> Table:
    titles = (title for title, _ in columns.values())
    return _without_empty(Table(("what", "part", *titles, "bytes"), tuple(rows)))


def _without_empty(table: Table) -> Table:
    """The table without columns that say nothing, where letters have no values."""
    kept = [at for at in range(len(table.headers)) if any(row[at] for row in table.rows)]
    return Table(
        tuple(table.headers[at] for at in kept),
        tuple(tuple(row[at] for at in kept) for row in table.rows),
    )


def _sizes(bill: Bill, size: Formula, columns: Columns) -> tuple[str, ...]:
    if not known(bill, size):
        return ("",) * len(columns)
    return _written(bill.size(size), columns)


def _written(size: int, columns: Columns) -> tuple[str, ...]:
    return tuple(write_out(size) for _, write_out in columns.values())


def _offloaded(bill: Bill, columns: Columns) -> list[Section]:
    """What lies off the device, and the traffic of a step; nothing where nothing is moved."""
    if not bill.moved:
        return []
    entries = (entry for entry in bill.entries if entry.moved)
    return [
        Section("off the device", _titled(_rows(bill, entries, columns), columns)),
        Section("moved each step", _traffic(bill)),
    ]


def _traffic(bill: Bill) -> Table:
    """Bytes out and in; on a link, the least seconds that they take."""
    link, rows = bill.plan.link, []
    for movement, moved in bill.moved:
        cells = [movement.name, str(moved.out), str(moved.into)]
        if link is not None:
            numbers = known(bill, moved.out) and known(bill, moved.into)
            seconds = moved.seconds(link, **bill.values) if numbers else None
            cells.append("" if seconds is None else f"{units.decimal(seconds, 3)} s")
        rows.append(tuple(cells))
    headers = ("offloaded", "bytes out", "bytes in")
    return Table((*headers, f"at least, on {link.name}") if link else headers, tuple(rows))


def _stage_table(found: Sequence[Bill], most: Bill, columns: Columns) -> Table:
    """One row a stage."""
    titles = (title for title, _ in columns.values())
    rows = tuple(
        (
            str(bill.stage),
            *_sizes(bill, bill.parameters, {"": ("", "{:,}".format)}),
            *_sizes(bill, bill.total, columns),
            "holds most" if bill is most and known(bill, bill.total) else "",
        )
        for bill in found
    )
    return _without_empty(Table(("stage", "parameters", *titles, " "), rows))


def _facts(bill: Bill) -> tuple[Fact, ...]:
    """Parameters, what is put in for letters, and what must divide what."""
    number = _sizes(bill, bill.parameters, {"": ("", ": {:,}".format)})
    put_in = (f"{symbol} = {printer.text(value)}" for symbol, value in bill.total.definitions)
    text = ", ".join(put_in)
    return (
        ("parameters", f"{bill.parameters}{''.join(number)}"),
        *((("put in", text),) if text else ()),
        *needs([bill.total, bill.parameters]),
    )
