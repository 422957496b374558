"""What a layer derives to, as text that a reviewer can read and a test can compare.

One file holds one variant of a layer: its table, the reasons, the sums and the closed forms. A
change in any op shows up as a diff of such files, in the field's own notation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from membill import printer, recompute, registry, tables
from membill.formula import Formula
from membill.layers import Layer
from membill.ledger import Ledger, Row

Closed = tuple[str, Formula]


def golden_files(layer: Layer) -> dict[str, str]:
    """The text of a layer and of each variant that changes one option, by file name.

    The layer itself is `gpt.txt`; others say what they change, `gpt--attention=flash.txt`.
    """
    return {file_name(variant): golden_text(variant) for variant in (layer, *layer.neighbours())}


def file_name(layer: Layer) -> str:
    """`gpt--attention=flash--dropout=off.txt`, with the options that are not at their default."""
    changed = (f"{name}={tables.spelled(value)}" for name, value in layer.changed().items())
    return "--".join([layer.name, *changed]) + ".txt"


def golden_text(layer: Layer) -> str:
    """All that is derived for one variant; SpecError if its spec is at fault."""
    ledger = layer.ledger()
    sections = (
        _heading(layer),
        _section("kept for backward", tables.kept(ledger.rows).plain().splitlines()),
        _section("why", _reasons((*ledger.rows, *ledger.tables))),
        _section("by scope", tables.by_scope(ledger).plain().splitlines()),
        _section("once for all layers", _shared(ledger)),
        _section("closed form, bytes", _aligned(_closed_forms(layer))),
        _section("recomputed, bytes", _aligned(_recomputed(layer))),
        _section("parameters", _aligned(_parameters(layer))),
    )
    return "\n\n".join(filter(None, sections)) + "\n"


def _heading(layer: Layer) -> str:
    lines = [
        f"{layer.name} {tables.options_text(layer)}".rstrip(),
        layer.title,
        f"source: {layer.source}" if layer.source else "",
        *(f"{symbol} = {printer.text(value)}" for symbol, value in layer.definitions),
    ]
    return "\n".join(filter(None, lines))


def _section(title: str, lines: Iterable[str]) -> str:
    body = [f"  {line}" for line in lines]
    return "\n".join([title, *body]) if body else ""


def _reasons(rows: Iterable[Row]) -> Iterator[str]:
    for row in rows:
        yield row.tensor
        yield from (f"  {tex}" for tex in row.why)


def _shared(ledger: Ledger) -> list[str]:
    return tables.kept(ledger.tables).plain().splitlines() if ledger.tables else []


def _closed_forms(layer: Layer) -> Iterator[Closed]:
    yield "exact", layer.activations()
    yield "without statistics", layer.activations(statistics=False)
    yield "general", layer.activations(specialise=False)
    yield "float32", layer.activations(dtype_bytes=4)


def _recomputed(layer: Layer) -> Iterator[Closed]:
    for policy in recompute.applicable(registry.known().policies.values(), layer.graph()):
        yield policy.name, layer.activations(recompute=policy)


def _parameters(layer: Layer) -> Iterator[Closed]:
    yield "exact", layer.parameters()
    yield "general", layer.parameters(specialise=False)


def _aligned(forms: Iterable[Closed]) -> list[str]:
    named = tuple(forms)
    width = max(len(name) for name, _ in named)
    return [f"{name.ljust(width)}  {formula}" for name, formula in named]
