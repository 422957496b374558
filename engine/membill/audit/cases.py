"""One audit each: an op, or a layer, at concrete dimensions, in both worlds."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import sympy
import torch

from membill.audit import references, saved
from membill.audit.building import built, defaults, sizes_at, tuned
from membill.audit.compare import Comparison, compare, expected
from membill.audit.references import Counterpart, Factory, ModelReference
from membill.dtypes import COMPUTE, FLOAT32, INT64
from membill.errors import unknown
from membill.formula import Formula
from membill.graph import Graph
from membill.layers import Layer, OptionValue
from membill.ledger import Ledger, collect, price
from membill.symbols import L, beta
from membill.tensor import Role, Tensor
from membill.tracing import trace
from membill.unrolled import unrolled

DTYPES = {"bfloat16": 2, "float32": 4}


def audit_layer(
    layer: Layer,
    dims: Mapping[str, int],
    *,
    factory: Factory | None = None,
    ledger: Ledger | None = None,
    dtype: str = "bfloat16",
    device: str = "meta",
) -> Comparison:
    """See `membill.audit.audit_layer`."""
    width = _width(dtype)
    subject = _subject(layer.name, layer.changed(), tuning_text(layer), dtype, dims)
    ledger = ledger or layer.ledger(dtype_bytes=width)
    known = _with_definitions(layer, dims)
    sides = expected(ledger, dims, dtype, inputs=layer.inputs)
    if factory is None:
        factory = tuned(references.covering(layer).factory, layer)
    with defaults(dtype, device):
        module, inputs, tables = built(factory, known, layer.chosen, layer.inputs)
    return compare(subject, sides, saved(module, *inputs, shared=tables))


def audit_model(
    known: ModelReference,
    dims: Mapping[str, int],
    options: Mapping[str, OptionValue],
    *,
    dtype: str = "bfloat16",
    device: str = "meta",
) -> Comparison:
    """A whole model of `dims["L"]` layers beside the module that it describes."""
    ledger = ledger_of(known, dims[L.name], options, dtype)
    with defaults(dtype, device):
        module, inputs, _ = built(known.factory, dims, options, {})
    subject = _subject(known.name, options, "", dtype, dims)
    # A model makes the tables itself that its layers share, so no record can mark them.
    kept = (replace(item, table=False) for item in expected(ledger, dims, dtype))
    record = saved(module, *inputs)
    # What it keeps of its buffers costs nothing: they are there anyway.
    made = tuple(item for item in record.storages if not item.table)
    return compare(subject, kept, replace(record, storages=made))


def ledger_of(
    known: ModelReference, layers: int, options: Mapping[str, OptionValue], dtype: str
) -> Ledger:
    """The ledger of a model of so many layers."""
    compute = FLOAT32 if dtype == "float32" else COMPUTE
    run = unrolled(known.spec(options), {**known.own, L.name: layers})
    graph = trace(known.name, run, {}, compute=compute)
    return price(collect(graph), graph.weights, {beta: sympy.Integer(_width(dtype))}, ())


def audit_op(
    case: Counterpart,
    dims: Mapping[str, int],
    trainable: Collection[str],
    *,
    dtype: str = "bfloat16",
    device: str = "meta",
) -> Comparison:
    """An op alone beside its counterpart; `trainable` names what takes a gradient."""
    graph = graph_of(case, dtype)
    kept = collect(graph, trainable=lambda tensor: tensor.name in trainable)
    ledger = price(kept, graph.weights, {beta: sympy.Integer(_width(dtype))}, ())
    sides = expected(ledger, dims, dtype, inputs=case.inputs, output=graph.output.storage.label)
    with defaults(dtype, device):
        inputs, weights, tables, indices = (
            {tensor.name: _made(tensor, dims, case.heads_first, trainable) for tensor in group}
            for group in (
                graph.inputs,
                graph.weights,
                _given(graph, Role.TABLE),
                _given(graph, Role.INDEX),
            )
        )
    record = saved(
        lambda *given: case.run(*given, **weights, **tables, **indices),
        *inputs.values(),
        shared=tables.values(),
        parameters=weights.values(),
    )
    subject = f"{case.name} in {dtype}, gradients of {', '.join(sorted(trainable)) or 'nothing'}"
    return compare(subject, sides, record, origins=True)


def graph_of(case: Counterpart, dtype: str) -> Graph:
    """The graph of an op called alone."""
    compute = FLOAT32 if dtype == "float32" else COMPUTE
    return trace(case.kind, case.call, case.inputs, compute=compute)


def gradients_of(case: Counterpart) -> Iterator[tuple[str, ...]]:
    """Every choice of inputs and weights that take a gradient."""
    graph = graph_of(case, "bfloat16")
    names = [tensor.name for tensor in (*graph.inputs, *graph.weights)]
    for count in range(len(names) + 1):
        yield from itertools.combinations(names, count)


def tuning_text(layer: Layer) -> str:
    """`, lora on q, v` or `, mlp frozen`: what a layer's adapter is and what is frozen in it."""
    adapted = layer.adapted
    adapter = f", {adapted.adapter.name} on {', '.join(adapted.on)}" if adapted else ""
    return adapter + (f", {', '.join(layer.frozen)} frozen" if layer.frozen else "")


def _width(dtype: str) -> int:
    if dtype not in DTYPES:
        raise unknown("dtype", dtype, DTYPES)
    return DTYPES[dtype]


def _subject(
    name: str, options: Mapping[str, OptionValue], tuning: str, dtype: str, dims: Mapping[str, int]
) -> str:
    chosen = (f"{option}={value}" for option, value in options.items())
    sizes = (f"{symbol}={size}" for symbol, size in dims.items())
    return f"{' '.join((name, *chosen))}{tuning} in {dtype} at {' '.join(sizes)}"


def _with_definitions(layer: Layer, dims: Mapping[str, int]) -> dict[str, int]:
    """The dimensions, with what the layer puts in for symbols: d_k = d/h."""
    derived = {
        str(symbol): Formula(definition, "entries")(**dims)
        for symbol, definition in layer.definitions
    }
    return {**dims, **derived}


def _made(
    tensor: Tensor,
    dims: Mapping[str, int],
    heads_first: Collection[str],
    trainable: Collection[str],
) -> Any:
    """A PyTorch tensor for a symbolic one."""
    sizes = sizes_at(tensor.shape, dims)
    if tensor.dtype == INT64:
        return torch.zeros(*sizes, dtype=torch.long)
    if tensor.name in heads_first:
        sizes[1], sizes[2] = sizes[2], sizes[1]
        made = torch.randn(*sizes).transpose(1, 2)
    else:
        made = torch.randn(*sizes)
    return made.requires_grad_(tensor.name in trainable)


def _given(graph: Graph, role: Role) -> tuple[Tensor, ...]:
    """The tensors of a role that ops take and none makes."""
    found = (
        tensor
        for op in graph.ops
        for tensor in op.inputs
        if tensor.role is role and not tensor.path
    )
    return tuple(dict.fromkeys(found))
