"""What a layer's function leaves behind when it runs on symbolic tensors: a graph of ops.

An op declares, for each thing that can receive a gradient, the tensors that this gradient needs.
Nothing here knows what is saved in the end: `collect` in ledger.py derives it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType

import sympy

from membill import location, paths
from membill.adapter import Adapted
from membill.dtypes import COMPUTE, INT64, DType
from membill.errors import InputError, Problem, SpecError
from membill.precision import Precision
from membill.tensor import Role, Tensor, current_path, dims

NO_FLOPS = sympy.Integer(0)


@dataclass(frozen=True)
class Needs:
    """The tensors that a gradient's formula mentions, the formula as LaTeX, and its FLOPs."""

    tensors: tuple[Tensor, ...]
    tex: str
    flops: sympy.Expr = NO_FLOPS


def needs(*tensors: Tensor, tex: str, flops: sympy.Expr = NO_FLOPS) -> Needs:
    r"""State what a gradient needs: `needs(y, tex=r"\bar x = y \odot \bar y")`.

    flops: the floating-point operations of its matrix products; 0 if it has none.
    """
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise InputError(f"needs(...) takes tensors, not {_said(tensor)}")
    return Needs(tensors, tex, flops)


Declared = tuple[Tensor, dict[Tensor, Needs]] | tuple[Tensor, dict[Tensor, Needs], sympy.Expr]
"""What an op's function returns: its output, what each gradient needs, and, if the op is a matrix
product, the floating-point operations that it takes."""


@dataclass(frozen=True)
class Op:
    """One recorded operation. `gradients` maps each input or weight to what its gradient needs.

    flops: floating-point operations of its matrix products; entry-by-entry work is not counted.
    """

    kind: str
    path: str
    inputs: tuple[Tensor, ...]
    output: Tensor
    gradients: Mapping[Tensor, Needs]
    flops: sympy.Expr = NO_FLOPS


@dataclass(frozen=True)
class Graph:
    """The ops of one traced function in the order they ran, with its weights."""

    inputs: tuple[Tensor, ...]
    output: Tensor
    ops: tuple[Op, ...]
    weights: tuple[Tensor, ...]

    def scopes(self) -> tuple[str, ...]:
        """Every scope path that holds an op, in order of first use."""
        found: dict[str, None] = {}
        for op in self.ops:
            parts = op.path.split(".")[:-1]
            found.update(dict.fromkeys(".".join(parts[:i]) for i in range(1, len(parts) + 1)))
        return tuple(found)


@dataclass
class _Trace:
    spec: Callable[..., object]
    compute: DType
    adapted: Adapted | None = None
    precision: Precision | None = None
    ops: list[Op] = field(default_factory=list)
    weights: list[Tensor] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    scopes: list[str] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    seen: Counter[str] = field(default_factory=Counter)
    tables: dict[str, Tensor] = field(default_factory=dict)

    def path(self, name: str) -> str:
        """A path for an op called `name` in the current scope; a repeat gets a number."""
        base = path = ".".join((*self.scopes, name))
        while path in self.taken:
            self.seen[base] += 1
            path = f"{base}_{self.seen[base] + 1}"
        self.taken.add(path)
        return path


_current: ContextVar[_Trace | None] = ContextVar("trace", default=None)


def _trace(what: str) -> _Trace:
    trace = _current.get()
    if trace is None:
        raise InputError(f"{what} only works inside a layer, while it is traced")
    return trace


@contextmanager
def scope(name: str) -> Iterator[None]:
    """Give the ops inside a common path: `with scope("attention"): ...`."""
    trace = _trace("scope(...)")
    if not all(part.isidentifier() for part in name.split(".")):
        raise InputError(f"scope {name!r}: a scope's name is an identifier")
    trace.scopes.append(name)
    try:
        yield
    finally:
        trace.scopes.pop()


def weight(name: str, *shape: object, dtype: DType | None = None) -> Tensor:
    """Declare a parameter of the op being defined; in the compute dtype unless told.

    Under a precision it is in the dtype in which that stores weights.
    """
    trace = _trace("weight(...)")
    stored = trace.precision.stored if trace.precision else dtype or trace.compute
    tensor = Tensor(dims(shape), stored, Role.WEIGHT, name, leading_axes=0)
    trace.weights.append(tensor)
    return tensor


def constant(name: str, *shape: object, dtype: DType | None = None) -> Tensor:
    """A table that all layers share, such as position encodings; it takes no gradient.

    Asked for again under its name, it is the same table; InputError if it is another.
    """
    trace = _trace("constant(...)")
    new = Tensor(dims(shape), dtype or trace.compute, Role.TABLE, name, 0, path="")
    table = trace.tables.setdefault(name, new)
    if (table.shape, table.dtype) != (new.shape, new.dtype):
        raise InputError(f"constant {name!r} is {table.shape} {table.dtype} already")
    return table


def index(name: str, *shape: object) -> Tensor:
    """Whole numbers that come with the batch, such as token ids; they take no gradient."""
    _trace("index(...)")
    return Tensor(dims(shape), INT64, Role.INDEX, name, len(shape), path="")


def record(
    kind: str, function: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]
) -> Tensor:
    """Run an op's definition, check what it declares, and add it to the graph being traced.

    A fault is noted and the trace goes on with the op's first input, so that one run reports
    all that is wrong with a spec.
    """
    trace = _trace(kind)
    if trace.precision is not None and kind in trace.precision.runs:
        with scope(str(kwargs.get("name", kind))):
            args = tuple(trace.precision.prepared(kind, arg) for arg in args)
    if trace.adapted is not None and kind == trace.adapted.adapter.kind:
        here = ".".join((*trace.scopes, str(kwargs.get("name", kind))))
        if paths.within(here, trace.adapted.on):
            return _adapt(trace, trace.adapted, (kind, function, args, kwargs))
    given = tuple(arg for arg in (*args, *kwargs.values()) if isinstance(arg, Tensor))
    name = str(kwargs.pop("name", kind))
    path = trace.path(name)
    token = current_path.set(path)
    declared: object = None
    try:
        if not name.isidentifier():
            raise InputError(f"name {name!r}: an op's name is an identifier")
        declared = function(*args, **kwargs)
        output, gradients, flops = _checked(path, declared, given)
    except InputError as error:
        where = location.called(trace.spec) if declared is None else location.defined(function)
        trace.problems.append(Problem(where, path, str(error)))
        return given[0] if given else Tensor((), path="")
    finally:
        current_path.reset(token)
    trace.ops.append(Op(kind, path, given, output, MappingProxyType(gradients), flops))
    return output


def _adapt(
    trace: _Trace,
    adapted: Adapted,
    call: tuple[str, Callable[..., object], tuple[object, ...], dict[str, object]],
) -> Tensor:
    """Run an adapter in place of an op; the ops within it are not adapted again."""
    kind, function, args, kwargs = call
    trace.adapted = None
    try:
        with scope(str(kwargs.pop("name", kind))):
            return adapted.adapter.function(
                lambda *args, **kwargs: record(kind, function, args, {**kwargs, "name": "base"}),
                *args,
                **kwargs,
            )
    finally:
        trace.adapted = adapted


def _checked(
    path: str, declared: object, given: tuple[Tensor, ...]
) -> tuple[Tensor, dict[Tensor, Needs], sympy.Expr]:
    """What an op's function returned, if it is (output, {tensor: needs(...)}[, flops])."""
    if not (isinstance(declared, tuple) and len(declared) in (2, 3)):
        raise InputError(f"an op returns (output, {{input: needs(...)}}), not {_said(declared)}")
    output, gradients, flops = (*declared, NO_FLOPS)[:3]
    if not isinstance(output, Tensor):
        raise InputError(f"an op's output is a tensor, not {_said(output)}")
    if not isinstance(gradients, dict):
        raise InputError(f"an op's gradients are {{input: needs(...)}}, not {_said(gradients)}")
    for target, need in gradients.items():
        _check_gradient(path, target, need, given)
    return output, gradients, flops


def _check_gradient(path: str, target: object, need: object, given: tuple[Tensor, ...]) -> None:
    if not isinstance(target, Tensor) or not (target in given or target.path == path):
        raise InputError(
            f"declares a gradient for {_said(target)}, neither an input nor a weight of it"
        )
    if not isinstance(need, Needs):
        raise InputError(f"the gradient of {target.label} is {_said(need)}, not needs(...)")
    for tensor in need.tensors:
        if not (tensor in given or tensor.path == path):
            raise InputError(
                f"the gradient of {target.label} needs {tensor.label}, which is neither an input "
                "of this op nor made by it"
            )


def _said(value: object) -> str:
    """A value for a message: a tensor by its label, a collection by its kind."""
    if isinstance(value, Tensor):
        return f"the tensor {value.label}"
    collection = isinstance(value, (list, tuple, dict, set))
    return f"a {type(value).__name__}" if collection else repr(value)


def trace(
    spec: str,
    function: Callable[..., object],
    shapes: Mapping[str, tuple[object, ...]],
    *,
    compute: DType = COMPUTE,
    adapted: Adapted | None = None,
    precision: Precision | None = None,
    **options: object,
) -> Graph:
    """Run `function` on symbolic inputs of these shapes and return the graph of its ops.

    compute: dtype of the inputs, and of weights unless told. adapted: an adapter to put in.
    precision: dtypes by kind of op. options: passed to `function`.

    Raises SpecError, with every problem found, if the function or an op in it is at fault.
    """
    inputs = tuple(
        Tensor(dims(shape), compute, name=name, path="") for name, shape in shapes.items()
    )
    trace = _Trace(function, compute, adapted, precision)
    token = _current.set(trace)
    output: object = None
    try:
        output = function(*inputs, **options)
        if not isinstance(output, Tensor):
            raise InputError(f"a layer returns its output tensor, not {_said(output)}")
    except Exception as error:
        fault = Problem(location.raised(error, function), "", location.explain(error))
        trace.problems.append(fault)
    finally:
        _current.reset(token)
    if trace.problems or not isinstance(output, Tensor):
        raise SpecError(spec, trace.problems)
    return Graph(inputs, output, tuple(trace.ops), tuple(trace.weights))


def live_tensors(graph: Graph, trainable: Callable[[Tensor], bool]) -> frozenset[Tensor]:
    """The tensors that a gradient reaches, given which inputs and weights take one.

    An op's output takes one if anything does for which the op declares one.
    """
    live = {source for source in (*graph.inputs, *graph.weights) if trainable(source)}
    for op in graph.ops:
        if any(target in live for target in op.gradients):
            live.add(op.output)
    return frozenset(live)
