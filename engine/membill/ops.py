"""The decorator that turns a function over tensors into an op."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, overload

from membill import recording, registry
from membill.graph import Declared
from membill.tensor import Tensor


@dataclass(frozen=True)
class OpSpec:
    """An op that specs can use: its kind, its definition, and where its gradients are from."""

    kind: str
    function: Callable[..., Any]
    source: str

    @property
    def summary(self) -> str:
        """The docstring."""
        return inspect.getdoc(self.function) or ""


Definition = Callable[..., Declared]


@overload
def op(function: Definition, /) -> Callable[..., Tensor]: ...
@overload
def op(*, source: str = "") -> Callable[[Definition], Callable[..., Tensor]]: ...


def op(function: Definition | None = None, /, *, source: str = "") -> Callable[..., Any]:
    """Make an op of a function that returns (output, {input or weight: needs(...)}).

    The op takes, besides the function's own arguments, `name=`, under which it stands in the
    layer's paths instead of its kind.
    """

    def decorate(define: Definition) -> Callable[..., Tensor]:
        kind = define.__name__

        @functools.wraps(define)
        def call(*args: Any, **kwargs: Any) -> Tensor:
            return recording.record(kind, define, args, kwargs)

        registry.add_op(OpSpec(kind, define, source))
        return call

    return decorate if function is None else decorate(function)
