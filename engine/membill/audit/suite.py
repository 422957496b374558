"""Every audit there is: each op alone, each layer in its variants, whole models; by size."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from membill import registry
from membill.audit import references
from membill.audit.building import tuned
from membill.audit.cases import (
    DTYPES,
    audit_layer,
    audit_model,
    audit_op,
    gradients_of,
    ledger_of,
    tuning_text,
)
from membill.audit.compare import Comparison
from membill.audit.references import Counterpart, ModelReference, Reference
from membill.layers import Layer, OptionValue
from membill.ledger import Ledger

SIZES = 3
DEPTHS = (1, 2, 5)
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
        subject = f"{self.reference.name}{options}{tuning_text(self.layer)}"
        return f"{subject}, {size}, {self.dtype}, {self.device}"

    def run(self) -> Comparison:
        """The ledger beside the module."""
        factory = tuned(self.reference.factory, self.layer)
        return audit_layer(
            self.layer, self.dims, factory=factory, dtype=self.dtype, device=self.device
        )


@dataclass(frozen=True)
class ModelAudit:
    """A whole model of `dims["L"]` layers under one choice of options."""

    reference: ModelReference
    options: Mapping[str, OptionValue]
    dims: Mapping[str, int]
    dtype: str
    device: str
    model: str = ""

    def run(self) -> Comparison:
        """The spec beside the module."""
        return audit_model(
            self.reference, self.dims, self.options, dtype=self.dtype, device=self.device
        )


def op_audits(kind: str) -> Iterator[OpAudit]:
    """Every counterpart of an op at every size in every dtype."""
    for case in references.counterparts()[kind]:
        for dims, dtype, device in _settings():
            yield OpAudit(case, dims, dtype, device)


def layer_audits(reference: Reference) -> Iterator[LayerAudit]:
    """Every variant that a reference covers, at small sizes and at one real model's.

    Then those layers with adapters or frozen weights for which it is the usual reference.
    """
    for layer in registry.layer(reference.layer).variants():
        if reference.covers(layer):
            yield from _audits_of(reference, layer, {})
    for layer, own in references.tuned():
        if references.covering(layer) is reference:
            yield from _audits_of(reference, layer, own)


def _audits_of(reference: Reference, layer: Layer, own: Mapping[str, int]) -> Iterator[LayerAudit]:
    for dims, dtype, device in _settings():
        yield LayerAudit(reference, layer, sizes_of(layer, dims), dtype, device)
    full = {**_full(reference), "b": reference.sequences, **own}
    sizes = sizes_of(layer, full)
    yield LayerAudit(reference, layer, sizes, "bfloat16", "meta", reference.model)


def model_audits(reference: ModelReference) -> Iterator[ModelAudit]:
    """Every variant at a small size, and the usual one at a real model's.

    With several numbers of layers, so that what counts per layer and what once is told apart.
    """
    for options in reference.variants:
        ledger = ledger_of(reference, DEPTHS[-1], options, "bfloat16")
        small = {**_used(ledger, references.small_sizes(1)[0]), **reference.own}
        for dtype, layers in itertools.product(DTYPES, DEPTHS):
            yield ModelAudit(reference, options, {**small, "L": layers}, dtype, "meta")
        yield ModelAudit(reference, options, {**small, "L": 2}, "bfloat16", "cpu")
    for layers in DEPTHS:
        full = {**_full(reference), **reference.own, "b": reference.sequences, "L": layers}
        yield ModelAudit(reference, reference.in_full, full, "bfloat16", "meta", reference.model)


def _full(reference: Reference | ModelReference) -> Mapping[str, int]:
    return {**registry.shape(reference.model), "T": reference.tokens}


def _settings() -> Iterator[tuple[Mapping[str, int], str, str]]:
    for index, dims in enumerate(references.small_sizes(SIZES)):
        for dtype in DTYPES:
            yield dims, dtype, "meta"
            if index < ON_CPU:
                yield dims, dtype, "cpu"


def sizes_of(layer: Layer, dims: Mapping[str, int]) -> dict[str, int]:
    """Of these dimensions, those that the layer is written in and does not define itself."""
    return _used(layer.ledger(), dims)


def _used(ledger: Ledger, dims: Mapping[str, int]) -> dict[str, int]:
    used = {name for row in ledger.entries for name in row.bytes.symbols}
    return {name: size for name, size in dims.items() if name in used}


def unaudited() -> tuple[str, ...]:
    """Every op and layer of the spec packages that has nothing to be audited against."""
    known = registry.known()
    layers = {reference.layer for reference in references.modules().values()}
    return (
        *(f"op {kind}" for kind in known.ops if kind not in references.counterparts()),
        *(f"layer {name}" for name in known.layers if name not in layers),
    )


def _told(dims: Mapping[str, int]) -> str:
    return " ".join(f"{name}={size}" for name, size in dims.items())
