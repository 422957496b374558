"""The decorator that registers a function over symbolic tensors as a layer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TypeVar

import sympy

from membill import registry, symbols
from membill.errors import InputError
from membill.formula import Definition
from membill.layers import Layer, Option
from membill.symbols import T, b, d
from membill.tensor import Tensor, exact

Function = TypeVar("Function", bound=Callable[..., Tensor])


def layer(
    name: str,
    *,
    title: str = "",
    source: str = "",
    where: Mapping[sympy.Symbol, sympy.Expr] | None = None,
    inputs: Mapping[str, tuple[object, ...]] | None = None,
) -> Callable[[Function], Function]:
    """Register a function over symbolic tensors as the layer `name`.

    title, source: for people. where: what the layer puts in for symbols, {d_k: d / h}.
    inputs: shapes of the function's positional arguments, {"x": (b, T, d)} unless told.
    Keyword-only arguments are the layer's options: a bool, or a function registered by `choice`.
    """

    def register(function: Function) -> Function:
        options = options_of(name, function)
        registry.add_layer(
            Layer(
                name,
                title or name,
                source,
                function,
                tuple(_checked_definitions(name, where or {})),
                inputs or {"x": (b, T, d)},
                options,
                {option.name: option.default for option in options},
            )
        )
        return function

    return register


def _checked_definitions(name: str, where: Mapping[sympy.Symbol, sympy.Expr]) -> list[Definition]:
    """The definitions, each with the earlier ones put into it."""
    found: dict[sympy.Symbol, sympy.Expr] = {}
    for symbol, value in where.items():
        symbols.info(symbol)
        found[symbol] = exact(value, f"layer {name!r}: {symbol} =").xreplace(found)
    for symbol, definition in found.items():
        for other in definition.free_symbols & found.keys():
            raise InputError(
                f"layer {name!r}: {symbol} = {definition} mentions {other}, which `where` defines "
                "as well; put that first"
            )
    return list(found.items())


def options_of(name: str, function: Callable[..., Tensor]) -> tuple[Option, ...]:
    """The keyword-only arguments of a layer's function, as its options; InputError if they are not.

    name: the layer's, for the message.
    """
    keywords = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]
    return tuple(_option(name, parameter.name, parameter.default) for parameter in keywords)


def _option(layer_name: str, name: str, default: object) -> Option:
    if isinstance(default, bool):
        return Option(name, default, {True: True, False: False})
    group = registry.alternatives(default)
    for alternative, function in group.items():
        if function is default:
            return Option(name, alternative, group)
    given = "missing" if default is inspect.Parameter.empty else repr(default)
    raise InputError(
        f"layer {layer_name!r}: the default of {name} is {given}; an option is a bool or a "
        "function registered with @choice"
    )
