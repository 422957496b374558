"""One audit each: an op, or a layer, at concrete dimensions, in both worlds."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import sympy
import torch

from membill.audit import references, saved
from membill.audit.compare import Comparison, compare, expected
from membill.audit.references import Counterpart, Factory
from membill.dtypes import COMPUTE, FLOAT32
from membill.errors import InputError, unknown
from membill.formula import Formula
from membill.graph import Graph, trace
from membill.layers import Layer
from membill.ledger import Ledger, collect, price
from membill.symbols import beta
from membill.tensor import Role, Tensor

DTYPES = {"bfloat16": 2, "float32": 4}
DEVICES = ("meta", "cpu")


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
    ledger = ledger or layer.ledger(dtype_bytes=width)
    known = _with_definitions(layer, dims)
    sides = expected(ledger, dims, dtype, inputs=layer.inputs)
    if factory is None:
        factory = references.covering(layer).factory
    with defaults(dtype, device):
        module, inputs, tables = _built(layer, known, factory)
    return compare(_subject(layer, dims, dtype), sides, saved(module, *inputs, shared=tables))


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


@contextmanager
def defaults(dtype: str, device: str) -> Iterator[None]:
    """Make new tensors of this dtype on this device, unless told otherwise."""
    if device not in DEVICES:
        raise unknown("device", device, DEVICES)
    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, dtype))
    try:
        with torch.device(device):
            yield
    finally:
        torch.set_default_dtype(before)


def _width(dtype: str) -> int:
    if dtype not in DTYPES:
        raise unknown("dtype", dtype, DTYPES)
    return DTYPES[dtype]


def _subject(layer: Layer, dims: Mapping[str, int], dtype: str) -> str:
    options = (f"{name}={value}" for name, value in layer.changed().items())
    sizes = (f"{name}={size}" for name, size in dims.items())
    return f"{' '.join((layer.name, *options))} in {dtype} at {' '.join(sizes)}"


def _with_definitions(layer: Layer, dims: Mapping[str, int]) -> dict[str, int]:
    """The dimensions, with what the layer puts in for symbols: d_k = d/h."""
    derived = {
        str(symbol): Formula(definition, "entries")(**dims)
        for symbol, definition in layer.definitions
    }
    return {**dims, **derived}


def _built(
    layer: Layer, dims: Mapping[str, int], factory: Factory
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """The module of a factory, with its inputs and shared tables; inputs made if not given."""
    made = factory(**_arguments(factory, {**dims, **layer.chosen}))
    module, inputs, tables = (*made, ())[:3] if isinstance(made, tuple) else (made, None, ())
    if not callable(module):
        raise InputError(f"{_name(factory)} returned {module!r}, which is no module")
    if inputs is None:
        inputs = tuple(_input(shape, dims) for shape in layer.inputs.values())
    return module, tuple(inputs), tuple(tables)


def _arguments(factory: Factory, known: Mapping[str, Any]) -> dict[str, Any]:
    """Of what is known, what the factory takes; InputError if it asks for more."""
    parameters = inspect.signature(factory).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return dict(known)
    for parameter in parameters:
        if parameter.default is parameter.empty and parameter.name not in known:
            raise InputError(
                f"{_name(factory)} takes {parameter.name}, for which there is no value; "
                f"known: {', '.join(known)}"
            )
    names = {parameter.name for parameter in parameters}
    return {name: value for name, value in known.items() if name in names}


def _name(factory: Factory) -> str:
    return getattr(factory, "__qualname__", repr(factory))


def _input(shape: tuple[object, ...], dims: Mapping[str, int]) -> Any:
    return torch.randn(*_sizes(shape, dims)).requires_grad_()


def _made(
    tensor: Tensor,
    dims: Mapping[str, int],
    heads_first: Collection[str],
    trainable: Collection[str],
) -> Any:
    """A PyTorch tensor for a symbolic one."""
    sizes = _sizes(tensor.shape, dims)
    if tensor.role is Role.INDEX:
        return torch.zeros(*sizes, dtype=torch.long)
    if tensor.name in heads_first:
        sizes[1], sizes[2] = sizes[2], sizes[1]
        made = torch.randn(*sizes).transpose(1, 2)
    else:
        made = torch.randn(*sizes)
    return made.requires_grad_(tensor.name in trainable)


def _sizes(shape: tuple[object, ...], dims: Mapping[str, int]) -> list[int]:
    return [Formula(sympy.sympify(axis), "entries")(**dims) for axis in shape]


def _given(graph: Graph, role: Role) -> tuple[Tensor, ...]:
    """The tensors of a role that ops take and none makes."""
    found = (
        tensor
        for op in graph.ops
        for tensor in op.inputs
        if tensor.role is role and not tensor.path
    )
    return tuple(dict.fromkeys(found))
