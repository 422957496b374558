"""Tables as data, so that a terminal, a text file and a page show the same cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import sympy

from membill import printer
from membill.layers import Layer
from membill.ledger import Ledger, Row


@dataclass(frozen=True)
class Table:
    """Column headers and rows of plain-text cells."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def plain(self) -> str:
        """The table as aligned text without colours or rules, one line a row."""
        lines = [self.headers, *self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.headers))]
        padded = (
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
            for line in lines
        )
        return "\n".join(line.rstrip() for line in padded)


def shape_text(shape: Iterable[sympy.Expr]) -> str:
    """`(b, T, 4d)`."""
    return f"({', '.join(printer.text(axis) for axis in shape)})"


def kept(rows: Iterable[Row]) -> Table:
    """What is kept: the tensor, its shape and dtype, its bytes, who needs it."""
    return Table(
        ("tensor", "shape", "dtype", "bytes", "needed by"),
        tuple(
            (
                row.tensor,
                shape_text(row.shape),
                str(row.dtype),
                str(row.bytes),
                ", ".join(row.needed_by),
            )
            for row in rows
        ),
    )


def by_scope(ledger: Ledger) -> Table:
    """The sums by outermost scope."""
    return Table(("scope", "bytes"), tuple((scope, str(size)) for scope, size in ledger.by_scope()))


def options_text(layer: Layer) -> str:
    """`attention=flash dropout=off`: every option with its value."""
    return settings_text(layer.chosen)


def settings_text(settings: Mapping[str, object]) -> str:
    """`tp=8 sp=on`: names with values."""
    return " ".join(f"{name}={spelled(value)}" for name, value in settings.items())


def spelled(value: object) -> str:
    """An option's value as text: on and off for the bools."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)
