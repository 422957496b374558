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


def weight(name: str, *shape: object, dtype: DType | None = None) -> Tensor:
    """Declare a parameter of the op being defined; in the compute dtype unless told.

    Under a precision it is in the dtype in which that stores weights.
    """
    trace = current_trace("weight(...)")
    stored = trace.precision.stored if trace.precision else dtype or trace.compute
    tensor = Tensor(dims(shape), stored, Role.WEIGHT, name, leading_axes=0)
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
    return Graph(inputs, output, tuple(trace.ops), tuple(trace.weights))
