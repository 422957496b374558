"""Adapters: what ops of a layer are replaced by, such as ones with a small trainable part beside.

An adapter replaces each op of one kind, at the places it is asked for, by a function that runs
the op itself (under the name `base`) and whatever else. What then is kept follows from the
gradients, as always.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from membill.tensor import Tensor


@dataclass(frozen=True)
class Adapter:
    """A way to adapt ops of a kind.

    function: called with the op (bound to the name `base`) and the op's own arguments.
    trains: the scopes whose weights it trains, all other weights of the layer being frozen; None
    if it freezes nothing.
    """

    name: str
    kind: str
    function: Callable[..., Tensor]
    trains: tuple[str, ...] | None
    summary: str
    source: str = ""


@dataclass(frozen=True)
class Adapted:
    """An adapter and the scope paths or op names at which it is put in."""

    adapter: Adapter
    on: tuple[str, ...]
