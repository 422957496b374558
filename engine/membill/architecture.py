"""An architecture: a whole model as a spec, from the batch to the loss.

It is made of layers that have specs of their own, in a pattern, and of two functions that come
once: one that makes the first layer's input from the batch, one that makes the loss from the last
layer's output. How many layers there are is an expression over `membill.symbols`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy

from membill import registry
from membill.declare import options_of
from membill.errors import InputError
from membill.layers import Layer, OptionValue
from membill.shapes import Shape
from membill.symbols import T, b, d
from membill.tensor import count


@dataclass(frozen=True)
class Slot:
    """A place in a pattern: the layer's name, its options there, and its kind of cache.

    cache: the name of a `Cache`; the layer's own unless told.
    """

    layer: str
    cache: str = ""
    options: Mapping[str, OptionValue] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Repeat:
    """A pattern of layers, one after the other, and how often it comes."""

    slots: tuple[Slot, ...]
    times: sympy.Expr


@dataclass(frozen=True, eq=False, repr=False)
class Architecture:
    """A model's spec.

    start: from the batch to (b, T, d). repeats: the layers, in order. end: from (b, T, d) to the
    loss. tied: the label of the weight of `end` that is the embedding's where a model ties them;
    empty if none can be. output: what a bill calls what `end` keeps.
    """

    name: str
    title: str
    source: str
    start: Layer
    repeats: tuple[Repeat, ...]
    end: Layer
    tied: str = ""
    output: str = "output"
    summary: str = ""

    def __repr__(self) -> str:
        return f"<architecture {self.name}>"

    @property
    def layers(self) -> tuple[str, ...]:
        """The names of the layers in the pattern, each once."""
        return tuple(dict.fromkeys(slot.layer for each in self.repeats for slot in each.slots))

    @property
    def fixed(self) -> frozenset[str]:
        """The options that the pattern sets, layer by layer; a model has no say in them."""
        return frozenset(
            name for each in self.repeats for slot in each.slots for name in slot.options
        )


def repeat(times: object, *layers: str | Slot) -> Repeat:
    """The layers, by name or as slots, one after the other, `times` times: an int or expression.

    Raises InputError for no layer or a number that is not a count.
    """
    if not layers:
        raise InputError(f"repeat({times}) repeats nothing: name the layers")
    slots = (item if isinstance(item, Slot) else Slot(item) for item in layers)
    return Repeat(tuple(slots), count(times, "times", "how often"))


def architecture(
    name: str,
    *,
    title: str,
    source: str,
    start: Callable[..., Any],
    layers: Iterable[Repeat],
    end: Callable[..., Any],
    tied: str = "",
    output: str = "output",
    summary: str = "",
) -> Architecture:
    """Register a model's spec.

    start: a function that makes features (b, T, d) from the batch, which it asks for by `index`
    or `data`. end: one that makes the loss from features. Their keyword-only arguments are
    options, as a layer's are; of one name with a layer's, they are one option of the model.
    tied, output: as in `Architecture`.
    """
    made = Architecture(
        name,
        title,
        source,
        _once(name, start, {}),
        tuple(layers),
        _once(name, end, {"x": (b, T, d)}),
        tied,
        output,
        summary,
    )
    registry.register(made)
    return made


def _once(
    model: str, function: Callable[..., Any], inputs: Mapping[str, tuple[object, ...]]
) -> Layer:
    """What comes once in a model, as a layer that the registry does not list."""
    name = function.__name__
    options = options_of(f"{model} {name}", function)
    return Layer(
        name,
        inspect.getdoc(function) or name,
        "",
        function,
        (),
        inputs,
        options,
        {option.name: option.default for option in options},
    )


def layers_of(shape: Shape) -> tuple[str, ...]:
    """The names of the layers that a model is made of."""
    return registry.find(Architecture, shape.architecture).layers
