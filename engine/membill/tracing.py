"""Running a layer's function on symbolic tensors, and what is noted while it runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from membill import location
from membill.adapter import Adapted
from membill.dtypes import COMPUTE, INT64, DType
from membill.errors import InputError, Problem, SpecError
from membill.graph import Graph, Op
from membill.precision import Precision
from membill.tensor import Role, Tensor, dims, said


@dataclass
class Trace:
    """What has been recorded of a function so far, and how its ops are run."""

    spec: Callable[..., object]
    compute: DType
    adapted: Adapted | None = None
    precision: Precision | None = None
    ops: list[Op] = field(default_factory=list)
    weights: list[Tensor] = field(default_factory=list)
    buffers: list[Tensor] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    scopes: list[str] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    seen: Counter[str] = field(default_factory=Counter)
    tables: dict[str, Tensor] = field(default_factory=dict)
    held: list[Tensor] = field(default_factory=list)

    def path(self, name: str) -> str:
        """A path for an op called `name` in the current scope; a repeat gets a number."""
        base = path = ".".join((*self.scopes, name))
        while path in self.taken:
            self.seen[base] += 1
            path = f"{base}_{self.seen[base] + 1}"
        self.taken.add(path)
        return path


_current: ContextVar[Trace | None] = ContextVar("trace", default=None)


def current_trace(what: str) -> Trace:
    """The trace that is running; InputError, naming what asked for it, if there is none."""
    trace = _current.get()
    if trace is None:
        raise InputError(f"{what} only works inside a layer, while it is traced")
    return trace


@contextmanager
def scope(name: str) -> Iterator[None]:
    """Give the ops inside a common path: `with scope("attention"): ...`."""
    trace = current_trace("scope(...)")
    if not all(part.isidentifier() for part in name.split(".")):
        raise InputError(f"scope {name!r}: a scope's name is an identifier")
    trace.scopes.append(name)
    try:
        yield
    finally:
        trace.scopes.pop()


def weight(
    name: str, *shape: object, dtype: DType | None = None, inputs: int = 0, stacked: int = 0
) -> Tensor:
    """Declare a parameter of the op being defined; in the compute dtype unless told.

    Under a precision it is in the dtype in which that stores weights. inputs: how many axes are
    those of a matrix's rows, the others being its columns'; 0 if it is none. stacked: how many
    axes come before these, along which there is a matrix each.
    """
    trace = current_trace("weight(...)")
    stored = trace.precision.stored if trace.precision else dtype or trace.compute
    tensor = Tensor(
        dims(shape), stored, Role.WEIGHT, name, leading_axes=stacked + inputs, stacked=stacked
    )
    trace.weights.append(tensor)
    return tensor


def constant(name: str, *shape: object, dtype: DType | None = None) -> Tensor:
    """A table that all layers share, such as position encodings; it takes no gradient.

    Asked for again under its name, it is the same table; InputError if it is another.
    """
    trace = current_trace("constant(...)")
    new = Tensor(dims(shape), dtype or trace.compute, Role.TABLE, name, 0, path="")
    table = trace.tables.setdefault(name, new)
    if (table.shape, table.dtype) != (new.shape, new.dtype):
        raise InputError(f"constant {name!r} is {table.shape} {table.dtype} already")
    return table


def index(name: str, *shape: object) -> Tensor:
    """Whole numbers that come with the batch, such as token ids; they take no gradient."""
    current_trace("index(...)")
    return Tensor(dims(shape), INT64, Role.INDEX, name, len(shape), path="")


def data(name: str, *shape: object, dtype: DType | None = None) -> Tensor:
    """Numbers that come with the batch, such as an image's; they take no gradient."""
    trace = current_trace("data(...)")
    return Tensor(dims(shape), dtype or trace.compute, Role.INDEX, name, len(shape), path="")


def buffer(name: str, *shape: object, dtype: DType | None = None) -> Tensor:
    """A tensor that a module holds and that takes no gradient, such as a table of frequencies.

    It is there whether backward needs it or not; in the compute dtype unless told.
    """
    trace = current_trace("buffer(...)")
    path = ".".join(trace.scopes)
    tensor = Tensor(dims(shape), dtype or trace.compute, Role.BUFFER, name, 0, path=path)
    trace.buffers.append(tensor)
    return tensor


def held(tensor: Tensor) -> Tensor:
    """The tensor, which whoever runs a step holds until its end: the batch, or a result.

    It is there whether backward needs it or not, and never freed in backward.
    """
    current_trace("held(...)").held.append(tensor)
    return tensor


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
    trace = Trace(function, compute, adapted, precision)
    token = _current.set(trace)
    output: object = None
    try:
        output = function(*inputs, **options)
        if not isinstance(output, Tensor):
            raise InputError(f"a layer returns its output tensor, not {said(output)}")
    except Exception as error:
        fault = Problem(location.raised(error, function), "", location.explain(error))
        trace.problems.append(fault)
    finally:
        _current.reset(token)
    if trace.problems or not isinstance(output, Tensor):
        raise SpecError(spec, trace.problems)
    ops, weights, buffers = tuple(trace.ops), tuple(trace.weights), tuple(trace.buffers)
    return Graph(inputs, output, ops, weights, buffers, tuple(trace.held))
