"""What is trained of a model: adapters in its layers, and weights that take no gradient."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from membill import registry
from membill.adapter import Adapter
from membill.errors import InputError, unknown
from membill.paths import upto

if TYPE_CHECKING:
    from membill.models import Model
    from membill.parts import Part


def adapt(model: Model, name: str, on: Collection[str]) -> Model:
    """The model with an adapter in its layers, all else frozen if that trains weights.

    A kind of layer without any of the places is not adapted, and is frozen with the rest.
    Raises InputError for an unknown adapter, for no place, and for a place in no layer.
    """
    adapter = registry.find(Adapter, name)
    if isinstance(on, str) or not on:
        raise InputError(f"on = {on!r}: give a collection of scopes or ops to adapt")
    layers = [part for group in model.groups for part in group]
    _check(f"place for adapter {name}", on, (path for x in layers for path in _ops(x, adapter)))

    def adapted(part: Part) -> Part:
        found = [place for place in on if _holds(_ops(part, adapter), place)]
        if part in layers and found:
            return replace(part, layer=part.layer.adapt(name, found))
        return part if adapter.trains is None else _frozen(part)

    return model.each(adapted)


def freeze(model: Model, *scopes: str) -> Model:
    """The model with the weights within these scopes or ops taking no gradient, in every part.

    Raises InputError for a scope that holds no weight in any part.
    """
    _check("scope to freeze", scopes, (label for part in model.parts for label in _weights(part)))

    def frozen(part: Part) -> Part:
        found = [scope for scope in scopes if _holds(_weights(part), scope)]
        return replace(part, layer=part.layer.freeze(*found))

    return model.each(frozen)


def _ops(part: Part, adapter: Adapter) -> tuple[str, ...]:
    """The ops of a layer that an adapter could adapt."""
    return tuple(op.path for op in part.layer.graph().ops if op.kind == adapter.kind)


def _weights(part: Part) -> tuple[str, ...]:
    return tuple(weight.label for weight in part.layer.graph().weights)


def _frozen(part: Part) -> Part:
    return replace(part, layer=part.layer.freeze(*_weights(part)))


def _holds(paths: Iterable[str], place: str) -> bool:
    return any(upto(path, place) for path in paths)


def _check(what: str, places: Iterable[str], paths: Iterable[str]) -> None:
    known = tuple(dict.fromkeys(paths))
    for place in places:
        if not _holds(known, place):
            raise unknown(what, place, known)
