"""`membill show LAYER`: what is kept, its sums, and the closed form."""

from __future__ import annotations

from typing import Any

import click

from membill import printer, tables
from membill.cli.changes import change_data, change_sections
from membill.cli.facts import held, needs, on_device, price_data, run_again
from membill.cli.output import Fact, Section, write, write_json
from membill.cli.per_layer import PerLayer
from membill.cli.request import Request, formula_data
from membill.cli.settings import json_option
from membill.errors import InputError
from membill.ledger import Row


def _show(request: Request, *, latex: bool, json: bool) -> None:
    if latex and json:
        raise InputError("give one of --latex and --json")
    if latex:
        click.echo(request.ledger.total().latex())
    elif json:
        write_json(_as_data(request))
    else:
        write((request.layer.title, request.described()), _sections(request))


def _sections(request: Request) -> list[Section]:
    ledger = request.ledger
    shared = [Section("once for the model", tables.kept(ledger.tables))] if ledger.tables else []
    return [
        Section("kept for backward", tables.kept(ledger.rows)),
        *shared,
        Section("by scope", tables.by_scope(ledger)),
        Section("closed form", _closed_forms(request)),
        *change_sections(request),
    ]


def _closed_forms(request: Request) -> tuple[Fact, ...]:
    ledger = request.ledger
    total, bare = ledger.total(), ledger.without_statistics().total()
    facts = [("one layer", held(total, request))]
    if bare.expr != total.expr:
        facts.append(("without statistics", f"{held(bare, request)}, as papers print it"))
    facts.append(("parameters", f"{ledger.parameters()}{on_device(request)}"))
    if (trained := request.trained()).expr != ledger.parameters().expr:
        facts.append(("trained", f"{trained}{on_device(request)}"))
    if total.definitions:
        put_in = (f"{symbol} = {printer.text(value)}" for symbol, value in total.definitions)
        facts.append(("put in", ", ".join(put_in)))
    return (*facts, *needs([total, ledger.parameters()]), *run_again(request))


def _as_data(request: Request) -> dict[str, Any]:
    ledger = request.ledger
    return {
        **request.as_data(),
        "rows": [_row(row) for row in ledger.rows],
        "once_for_the_model": [_row(row) for row in ledger.tables],
        "scopes": {scope: formula_data(size) for scope, size in ledger.by_scope()},
        "total": formula_data(ledger.total()),
        "total_without_statistics": formula_data(ledger.without_statistics().total()),
        "conditions": [str(condition) for condition in ledger.total().conditions],
        "parameters": formula_data(ledger.parameters()),
        "trained_parameters": formula_data(request.trained()),
        "price": price_data(request),
        "changes": change_data(request),
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "path": row.path,
        "tensor": row.tensor,
        "shape": [printer.text(axis) for axis in row.shape],
        "dtype": str(row.dtype),
        "role": row.role.value,
        "bytes": formula_data(row.bytes),
        "needed_by": list(row.needed_by),
        "why": list(row.why),
    }


def _options() -> list[click.Option]:
    return [
        click.Option(["--latex"], is_flag=True, help="Print only the closed form, as LaTeX."),
        json_option(),
    ]


show = PerLayer(
    "show",
    _show,
    _options,
    help="Show what a layer keeps for backward, as a formula.",
)
