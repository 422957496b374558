"""What the audit found of a layer, as far as the layer still says the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from membill.audit import results
from membill.audit.results import Results, Run, Subject
from membill.errors import InputError
from membill.layers import Layer
from membill.ledger import Ledger, total
from membill.shapes import Shape

_WIDTHS = {"bfloat16": 2, "float16": 2, "float32": 4}


@dataclass(frozen=True)
class Audited:
    """A layer beside one module. holds: whether the layer gives what was found at every size."""

    results: Results
    subject: Subject
    holds: bool

    @property
    def pytorch(self) -> str:
        """The version that the layer was compared with."""
        return self.results.versions.get("torch", "")


def audited(layer: Layer) -> tuple[Audited, ...]:
    """What was found of a layer in just this variant, one for each module that it was beside."""
    ledgers: dict[str, Ledger] = {}

    def gives(run: Run) -> bool:
        if run.dtype not in ledgers:
            ledgers[run.dtype] = layer.ledger(dtype_bytes=_WIDTHS[run.dtype])
        return _gives(ledgers[run.dtype], run)

    return tuple(
        Audited(found, subject, all(gives(run) for run in subject.runs))
        for found in results.shipped()
        for subject in found.of_layer(layer)
    )


def _gives(ledger: Ledger, run: Run) -> bool:
    """Whether the ledger has as many storages as the run, of as many bytes."""
    rows = (*ledger.rows, *ledger.tables)
    try:
        size = total(row.bytes for row in rows)(**run.dims)
    except InputError:
        return False
    return len(rows) == run.storages and bool(size == run.bytes)


def beyond(run: Run, shapes: Iterable[Shape]) -> Mapping[str, int]:
    """The dimensions of a run that its model does not have: tokens, sequences, other depths."""
    own: Mapping[str, int] = next((shape for shape in shapes if shape.name == run.model), {})
    return {name: size for name, size in run.dims.items() if own.get(name) != size}


def of_layers(found: Results) -> Iterator[tuple[str, tuple[Subject, ...]]]:
    """The subjects of each layer, in the order of the results."""
    for name in dict.fromkeys(subject.layer for subject in found.layers):
        yield name, tuple(subject for subject in found.layers if subject.layer == name)


def dtypes(subject: Subject) -> str:
    """`bfloat16, float32`: every dtype in which it was compared."""
    return ", ".join(dict.fromkeys(run.dtype for run in subject.runs))
