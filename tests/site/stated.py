"""A site as text, and beside it what the engine says of the same things, section by section.

A script for a process of its own, with a tree of specs in PYTHONPATH. Its facts come from the
engine alone: where they differ between two trees the pages must, and nowhere else.
"""

import inspect
import json
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import membill
from membill import registry, render, units
from membill.audit import results
from membill.bill import Bill
from membill.diff import diff
from membill.ledger import Ledger, Row, total
from membill.parts import LAYERS
from membill.published import Published
from membill.recompute import NONE, applicable
from membill.symbols import P, T
from membill.tables import spelled
from membill.worked import Worked

Facts = dict[str, Any]

ANYWHERE = "*"
"""In the place of a section, where it is not told in which one something stands."""

STATES = re.compile(r"plans/states\.md|(recipes|api)/")
"""Pages that speak of no activations: they name models for their parameters."""

KNOWN = registry.known()
MODELS = {name: membill.model(name) for name in KNOWN.shapes}
KERNELS = ("gpt-3-175b", "llama-3-8b", "mixtral-8x7b")
"""Models that the calculator is asked for with every attention kernel."""


def pages(site: Path) -> dict[str, str]:
    """The generated pages, and the hand-written ones filled in."""
    made, written = render.site(site), sorted((site / "docs").glob("*.md"))
    filled = {file.name: made.fill(file.read_text("utf-8"), file.name) for file in written}
    return {**made.pages, **filled}


def modes(layer: membill.Layer) -> dict[str, tuple[membill.Layer, Ledger]]:
    """The ways to run a layer that differ from its default in one thing, with what is kept."""
    chosen = {
        f"{option.name} = {spelled(value)}": layer.variant(**{option.name: value})
        for option in layer.options
        for value in option.values
        if value != option.default
    }
    policies = applicable(KNOWN.policies.values(), layer.graph())
    again = {f"recompute = {p.name}": layer.ledger(recompute=p) for p in policies if p != NONE}
    return {
        **{name: (each, each.ledger()) for name, each in chosen.items()},
        **{name: (layer, kept) for name, kept in again.items()},
    }


def softmax(layer: membill.Layer) -> set[str]:
    return {op.path for op in layer.graph().ops if op.kind == "softmax"}


def kept(ledger: Ledger, but: Collection[str] = ()) -> dict[str, tuple[str, list[str]]]:
    """Bytes and needs by storage, for all ops but some: what only these need is not there."""
    needs = ((row, [path for path in row.needed_by if path not in but]) for row in ledger.rows)
    return {row.tensor: (str(row.bytes), paths) for row, paths in needs if paths}


def of_layer(layer: membill.Layer) -> Facts:
    """What each section of a layer's page states."""
    ledger = layer.ledger()
    ways = {name: way for name, (_, way) in modes(layer).items()}
    rows, whole = (*ledger.rows, *ledger.tables), str(ledger.total())
    sizes = [(row.tensor, row.path, str(row.bytes)) for row in rows]
    squared = [str(row.bytes) for row in rows if sum(axis.has(T) for axis in row.shape) > 1]
    return {
        "": [*audits(layer)],
        "Formula": [whole, str(layer.activations(dtype_bytes=4))],
        "What is kept": [*map(reason, rows)],
        "By scope": [str(size) for _, size in ledger.by_scope()],
        "Derivation step by step": sizes,
        "Numbers": [whole, squared],
        "Charts": [sizes, *(str(way.total()) for way in ways.values())],
        **{name: [str(way.total()), *changes(ledger, way)] for name, way in ways.items()},
    }


def reason(row: Row | None) -> Any:
    return row and (row.tensor, str(row.shape), str(row.bytes), row.needed_by, row.why)


def changes(default: Ledger, way: Ledger) -> Iterator[Any]:
    for each in diff(default, way).changes:
        yield reason(each.before), reason(each.after)


def audits(layer: membill.Layer) -> Iterator[bool]:
    """Whether the layer keeps what was found beside PyTorch, size by size."""
    for found in results.shipped():
        for run in (run for subject in found.of_layer(layer) for run in subject.runs):
            ledger = layer.ledger(dtype_bytes=4 if run.dtype == "float32" else 2)
            rows = (*ledger.rows, *ledger.tables)
            size = total(row.bytes for row in rows)(**run.dims)
            yield (len(rows), size) == (run.storages, run.bytes)


def of_model(name: str) -> Facts:
    """What each section of a model's page states that can rest on what layers keep."""
    model = MODELS[name]
    bill = model.bill(b=1, T=min(8192, registry.shape(name).get(P.name, 8192)))
    kinds = KNOWN.policies.items()
    return {
        "": units.gb(bill.bytes),
        "Bill": [
            (each.category, each.part, str(each.bytes), bill.size(each.bytes))
            for each in bill.entries
        ],
        "Plans side by side": bill.bytes,
        "Memory against length": {name: str(model.activations(recompute=p)) for name, p in kinds},
    }


def about(page: str, text: str, site: Path) -> Iterator[str]:
    """What is kept by the layers, spec files and models that a page takes as examples.

    Its source names them, or there is none but that of all axes, and it has sections on them.
    """
    file = next(filter(Path.is_file, (site / "docs" / page, site / f"templates/{page}.j2")), None)
    source = file.read_text("utf-8") if file else ""
    shared = site / "templates" / "four.html.j2"
    source += shared.read_text("utf-8") if shared.name in source else ""
    headed = {name for name, layer in KNOWN.layers.items() if f"\n## {layer.title}\n" in text}
    for name in sorted({*re.findall(r'"([\w.-]+)"', source), *headed}):
        known = KNOWN.layers.get(name) or MODELS.get(name)
        if known:
            yield f"{name}: {known.activations()}"
    for example in (site / "docs" / "examples").glob("*.py"):
        if f'"{example.name}"' in source:
            yield from (str(kept(x.ledger())) for x in registry.layers_in(example).values())


def facts(text: Mapping[str, str], site: Path) -> dict[str, Facts]:
    """By page and section, what the engine says of what they are about."""
    layers = {f"layers/{name}.md": of_layer(layer) for name, layer in KNOWN.layers.items()}
    models = {f"models/{name}.md": of_model(name) for name in MODELS}
    worked, published = KNOWN.of(Worked).values(), KNOWN.of(Published).values()
    own: dict[str, Facts] = {
        **layers,
        **models,
        "layers.md": {"": [each["Formula"] for each in layers.values()]},
        "audit.md": {ANYWHERE: [each[""] for each in layers.values()]},
        "models.md": {"": [each["Bill"] for each in models.values()]},
        "ops.md": {name: inspect.getsource(op.function) for name, op in KNOWN.ops.items()},
        "worked.md": {each.title: [figure.bytes for figure in each.figures] for each in worked},
        "published.md": {"": [str(each.compared().derived) for each in published]},
        "calculator.js": {ANYWHERE: [*layers.values()]},
    }
    rest = (page for page in text if page not in own and not STATES.match(page))
    return {**{page: {ANYWHERE: [*about(page, text[page], site)]} for page in rest}, **own}


def asked() -> Iterator[Facts]:
    """Settings for the calculator: every model, some with every kernel."""
    for model in MODELS:
        yield {"model": model, "options": {}, "recompute": "none"}
    for model in KERNELS:
        (layer, *_) = (part.layer for part in MODELS[model].parts if part.where == LAYERS)
        (kernels,) = (each.values for each in layer.options if each.name == "attention")
        for kernel, policy in product(kernels, ("none", "selective")):
            yield {"model": model, "options": {"attention": kernel}, "recompute": policy}


def answer(setting: Facts) -> Facts:
    """The bill, the peak, and the part of the bill that is kept for softmax alone."""
    model = membill.model(setting["model"], **setting["options"])
    peak = model.peak(b=1, T=128, recompute=setting["recompute"])
    return {"total": peak.bill.bytes, "peak": peak.bytes, "alone": alone(model, peak.bill)}


def alone(model: membill.Model, bill: Bill) -> int:
    sizes = [
        row.bytes * part.times
        for part in model.parts
        for row in part.ledger(bill.plan).rows
        if softmax(part.layer).issuperset(row.needed_by)
    ]
    return bill.size(total(sizes))


def main(site: Path, out: Path) -> None:
    text = pages(site)
    every = {
        f"{name} {mode}".strip(): each
        for name, layer in KNOWN.layers.items()
        for mode, each in {"": (layer, layer.ledger()), **modes(layer)}.items()
    }
    ledgers = (ledger for _, ledger in every.values())
    totals = (each.total() for one in ledgers for each in (one, one.without_statistics()))
    found = {
        "pages": text,
        "facts": facts(text, site),
        "kept": {name: kept(ledger) for name, (_, ledger) in every.items()},
        "without": {name: kept(each, softmax(layer)) for name, (layer, each) in every.items()},
        "formulas": sorted({*map(str, totals)}),
        "asked": [{**each, **answer(each)} for each in asked()],
    }
    out.write_text(json.dumps(found), "utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
