"""Modules from factories, at concrete dimensions; frozen and adapted as a layer is."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import sympy
import torch

from membill.audit import references
from membill.audit.references import Factory
from membill.errors import InputError, unknown
from membill.formula import Formula
from membill.layers import Layer, OptionValue
from membill.paths import within

DEVICES = ("meta", "cpu")


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


def built(
    factory: Factory,
    dims: Mapping[str, int],
    options: Mapping[str, OptionValue],
    shapes: Mapping[str, tuple[object, ...]],
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """The module of a factory, with its inputs and shared tables.

    shapes: of inputs to make if the factory gives none.
    """
    module, inputs, tables = _made(factory, {**dims, **options})
    if not callable(module):
        raise InputError(f"{_name(factory)} returned {module!r}, which is no module")
    if inputs is None:
        inputs = tuple(_input(shape, dims) for shape in shapes.values())
    return module, tuple(inputs), tuple(tables)


def tuned(factory: Factory, layer: Layer) -> Factory:
    """The factory with the layer's frozen weights frozen and its adapter put in.

    Its modules name their parts as the layer's spec does.
    """

    def make(**known: Any) -> Any:
        module, inputs, tables = _made(factory, known)
        _freeze(module, layer.frozen)
        if layer.adapted is not None:
            adapt = references.adapter(layer.adapted.adapter.name)
            module = adapt(module, layer.adapted.on, known)
        return module, inputs, tables

    return make if layer.adapted or layer.frozen else factory


def _freeze(module: torch.nn.Module, scopes: tuple[str, ...]) -> None:
    for scope in scopes:
        inside = [name for name, _ in module.named_parameters() if within(name, (scope,))]
        if not inside:
            names = (name for name, _ in module.named_parameters())
            raise unknown("part to freeze", scope, names, f"of {type(module).__name__}")
        for name in inside:
            module.get_parameter(name).requires_grad_(False)


def _made(factory: Factory, known: Mapping[str, Any]) -> tuple[Any, Any, tuple[Any, ...]]:
    """What a factory returns: a module, inputs or None, shared tables."""
    made = factory(**_arguments(factory, known))
    return (*made, ())[:3] if isinstance(made, tuple) else (made, None, ())


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
    return torch.randn(*sizes_at(shape, dims)).requires_grad_()


def sizes_at(shape: tuple[object, ...], dims: Mapping[str, int]) -> list[int]:
    """A symbolic shape in numbers."""
    return [Formula(sympy.sympify(axis), "entries")(**dims) for axis in shape]
