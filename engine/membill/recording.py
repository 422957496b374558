"""Recording an op: run its definition, check what it declares, add it to the graph."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

import sympy

from membill import location, paths
from membill.adapter import Adapted
from membill.errors import InputError, Problem
from membill.graph import NO_FLOPS, Needs, Op
from membill.tensor import Tensor, current_path, said
from membill.tracing import Trace, current_trace, scope


def record(
    kind: str, function: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]
) -> Tensor:
    """Run an op's definition, check what it declares, and add it to the graph being traced.

    A fault is noted and the trace goes on with the op's first input, so that one run reports
    all that is wrong with a spec.
    """
    trace = current_trace(kind)
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
    trace: Trace,
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
        raise InputError(f"an op returns (output, {{input: needs(...)}}), not {said(declared)}")
    output, gradients, flops = (*declared, NO_FLOPS)[:3]
    if not isinstance(output, Tensor):
        raise InputError(f"an op's output is a tensor, not {said(output)}")
    if not isinstance(gradients, dict):
        raise InputError(f"an op's gradients are {{input: needs(...)}}, not {said(gradients)}")
    for target, need in gradients.items():
        _check_gradient(path, target, need, given)
    return output, gradients, flops


def _check_gradient(path: str, target: object, need: object, given: tuple[Tensor, ...]) -> None:
    if not isinstance(target, Tensor) or not (target in given or target.path == path):
        raise InputError(
            f"declares a gradient for {said(target)}, neither an input nor a weight of it"
        )
    if not isinstance(need, Needs):
        raise InputError(f"the gradient of {target.label} is {said(need)}, not needs(...)")
    for tensor in need.tensors:
        if not (tensor in given or tensor.path == path):
            raise InputError(
                f"the gradient of {target.label} needs {tensor.label}, which is neither an input "
                "of this op nor made by it"
            )
