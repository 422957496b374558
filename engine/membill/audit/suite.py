"""Every audit there is: each op, alone, and each layer in its variants, at several sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from membill import registry
from membill.audit import references
from membill.audit.cases import DTYPES, audit_layer, audit_op, gradients_of
from membill.audit.compare import Comparison
from membill.audit.references import Counterpart, Reference
from membill.layers import Layer

SIZES = 3
ON_CPU = 1
"""How many of the sizes are run on real tensors too, besides on `meta`."""


@dataclass(frozen=True)
class OpAudit:
    """One call of an op at one size, with every choice of what takes a gradient."""

    case: Counterpart
    dims: Mapping[str, int]
    dtype: str
    device: str

    def __str__(self) -> str:
        return f"{self.case.name}, {_told(self.dims)}, {self.dtype}, {self.device}"

    def run(self) -> Iterator[Comparison]:
        """One comparison for each set of tensors that takes a gradient."""
        for names in gradients_of(self.case):
            yield audit_op(self.case, self.dims, names, dtype=self.dtype, device=self.device)


@dataclass(frozen=True)
class LayerAudit:
    """One variant of a layer at one size; `model` names it if it is that of a real model."""

    reference: Reference
    layer: Layer
    dims: Mapping[str, int]
    dtype: str
    device: str
    model: str = ""

    def __str__(self) -> str:
        options = "".join(f" {name}={value}" for name, value in self.layer.changed().items())
        size = self.model or _told(self.dims)
        return f"{self.reference.name}{options}, {size}, {self.dtype}, {self.device}"

    def run(self) -> Comparison:
        """The ledger beside the module."""
        factory = self.reference.factory
        return audit_layer(
            self.layer, self.dims, factory=factory, dtype=self.dtype, device=self.device
        )


def op_audits() -> Iterator[OpAudit]:
    """Every counterpart at every size in every dtype."""
    for cases in references.counterparts().values():
        for case in cases:
            for dims, dtype, device in _settings():
                yield OpAudit(case, dims, dtype, device)


def layer_audits() -> Iterator[LayerAudit]:
    """Every variant that a reference covers, at small sizes and at one real model's."""
    for reference in references.references():
        for layer in registry.layer(reference.layer).variants():
            if reference.covers(layer):
                yield from _audits_of(reference, layer)


def _audits_of(reference: Reference, layer: Layer) -> Iterator[LayerAudit]:
    for dims, dtype, device in _settings():
        yield LayerAudit(reference, layer, sizes_of(layer, dims), dtype, device)
    full = {**registry.shape(reference.model), "b": reference.sequences, "T": reference.tokens}
    sizes = sizes_of(layer, full)
    yield LayerAudit(reference, layer, sizes, "bfloat16", "meta", reference.model)


def _settings() -> Iterator[tuple[Mapping[str, int], str, str]]:
    for index, dims in enumerate(references.small_sizes(SIZES)):
        for dtype in DTYPES:
            yield dims, dtype, "meta"
            if index < ON_CPU:
                yield dims, dtype, "cpu"


def sizes_of(layer: Layer, dims: Mapping[str, int]) -> dict[str, int]:
    """Of these dimensions, those that the layer is written in and does not define itself."""
    ledger = layer.ledger()
    used = {name for row in ledger.entries for name in row.bytes.symbols}
    return {name: size for name, size in dims.items() if name in used}


def unaudited() -> tuple[str, ...]:
    """Every op and layer of the spec packages that has nothing to be audited against."""
    known = registry.known()
    layers = {reference.layer for reference in references.references()}
    return (
        *(f"op {kind}" for kind in known.ops if kind not in references.counterparts()),
        *(f"layer {name}" for name in known.layers if name not in layers),
    )


def _told(dims: Mapping[str, int]) -> str:
    return " ".join(f"{name}={size}" for name, size in dims.items())
