"""The audit: what PyTorch really keeps for backward, beside what a spec says.

>>> from membill import audit
>>> record = audit.saved(module, x)        # every storage that autograd saved
>>> audit.audit_layer(membill.layer("gpt"), dims).message()

PyTorch is imported when it is first needed; without it, InputError says what to install.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from membill.audit.compare import Comparison, Pair, compare, expected
from membill.audit.references import reference
from membill.audit.requirements import require_torch
from membill.audit.storage import Record, Storage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from membill.layers import Layer
    from membill.ledger import Ledger


def saved(
    target: Any,
    *inputs: Any,
    shared: Iterable[Any] = (),
    parameters: Iterable[Any] = (),
    kernels: bool = True,
    **kwargs: Any,
) -> Record:
    """Run `target(*inputs, **kwargs)` and report the storages that autograd saves.

    target: a module, or any function of tensors; on the device `meta` it needs no memory.
    shared: tensors that all layers share; a storage of theirs, or of a buffer of the module's,
    is reported as a table. parameters: tensors to leave out besides the module's own.
    kernels: stand in for the fused kernels that a GPU would choose, so that the record is what
    a GPU run keeps; False records the run as it is on this device.
    """
    require_torch()
    from membill.audit.record import record

    return record(target, inputs, kwargs, tuple(shared), tuple(parameters), kernels=kernels)


def audit_layer(
    layer: Layer,
    dims: Mapping[str, int],
    *,
    factory: Any = None,
    ledger: Ledger | None = None,
    dtype: str = "bfloat16",
    device: str = "meta",
) -> Comparison:
    """A layer's ledger beside what PyTorch keeps, at concrete dimensions.

    factory: makes the module, by the layer's dimensions; by default the reference module that
    the spec package has for this layer. ledger: another than the layer's own at this dtype, of
    frozen weights, say. Raises InputError if there is no module or a dimension is missing.
    """
    require_torch()
    from membill.audit.cases import audit_layer as audit

    return audit(layer, dims, factory=factory, ledger=ledger, dtype=dtype, device=device)


__all__ = [
    "Comparison",
    "Pair",
    "Record",
    "Storage",
    "audit_layer",
    "compare",
    "expected",
    "reference",
    "saved",
]
