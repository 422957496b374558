"""What commands print: titled tables and facts, in a terminal or in a pipe."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from membill.tables import Table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

Fact = tuple[str, str]
"""A label and what it says."""


@dataclass(frozen=True)
class Section:
    """A titled part of the output: a table, or facts one below the other."""

    title: str
    body: Table | tuple[Fact, ...]


def write(heading: Fact, sections: Sequence[Section]) -> None:
    """Print a heading (title, subtitle) and sections: rich in a terminal, else plain text."""
    if sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        _write_rich(heading, sections)
    else:
        click.echo(plain(heading, sections))


def write_json(data: Any) -> None:
    """Print data as indented JSON, with `²` and the like as they are."""
    click.echo(json.dumps(data, indent=2, ensure_ascii=False))


def plain(heading: Fact, sections: Sequence[Section]) -> str:
    """Aligned text, with nothing wrapped or coloured."""
    blocks = ["\n".join(filter(None, heading)), *map(_plain_section, sections)]
    return "\n\n".join(filter(None, blocks))


def _plain_section(section: Section) -> str:
    body = section.body.plain() if isinstance(section.body, Table) else _aligned(section.body)
    return "\n".join(filter(None, (section.title, body)))


def _aligned(facts: Sequence[Fact]) -> str:
    width = max(len(label) for label, _ in facts)
    return "\n".join(f"{label.ljust(width)}  {text}" for label, text in facts)


def _write_rich(heading: Fact, sections: Sequence[Section]) -> None:
    # Half of the start-up time beyond SymPy's, so only where its output is seen.
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    title, subtitle = heading
    console.print(Text(title, "bold"), *([Text(subtitle, "dim")] if subtitle else []), sep="\n")
    for section in sections:
        console.print()
        if section.title:
            console.print(Text(section.title, "bold cyan"))
        body = section.body
        grid = _rich_table(body, console) if isinstance(body, Table) else _rich_facts(body)
        console.print(grid)


def _rich_table(table: Table, console: Console) -> RichTable:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    grid = RichTable(box=SIMPLE_HEAD, show_edge=False, header_style="dim", padding=(0, 1, 0, 0))
    *first, last = table.headers
    roomy = _width_but_last(table) + 16 < console.width
    for header in first:
        style = "green" if header == "bytes" else None
        grid.add_column(header, style=style, overflow="fold", no_wrap=roomy)
    grid.add_column(last, overflow="fold")
    for row in table.rows:
        grid.add_row(*map(Text, row))
    return grid


def _rich_facts(facts: Sequence[Fact]) -> RichTable:
    from rich.table import Table as RichTable
    from rich.text import Text

    grid = RichTable.grid(padding=(0, 2))
    grid.add_column(style="dim", overflow="fold")
    grid.add_column(style="bold", overflow="fold")
    for label, text in facts:
        grid.add_row(Text(label), Text(text))
    return grid


def _width_but_last(table: Table) -> int:
    """How wide all but the last column of a table are, gaps included."""
    lines = [table.headers, *table.rows]
    return sum(2 + max(len(line[i]) for line in lines) for i in range(len(table.headers) - 1))
