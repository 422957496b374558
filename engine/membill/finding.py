"""Models by name, by their dimensions, or from a file."""

from __future__ import annotations

import sympy

from membill import registry
from membill.architecture import Architecture
from membill.errors import unknown
from membill.layers import OptionValue
from membill.models import Model
from membill.parts import END, LAYERS, START, Part, defined
from membill.shapes import Shape


def model(name: str, **options: OptionValue) -> Model:
    """A known model ("llama-3-8b"), an architecture without dimensions ("llama"), or a file.

    A name that ends with .json is the path of a Hugging Face configuration, read as
    `membill.config` says. options: of its parts, such as attention="eager" or loss="fused".
    Raises InputError for an unknown name, option or value.
    """
    if isinstance(name, str) and name.endswith(".json"):
        from membill.config_reading import shape_at  # it needs this module whole

        return of_shape(shape_at(name), **options)
    shapes, specs = registry.known().shapes, registry.everything(Architecture)
    if not isinstance(name, str) or (name not in shapes and name not in specs):
        raise unknown("model", name, [*shapes, *specs])
    if name in shapes:
        return of_shape(registry.shape(name), **options)
    return made(specs[name]).variant(**options)


def of_shape(shape: Shape, **options: OptionValue) -> Model:
    """The model of these dimensions, with its own options and, before them, those given."""
    spec = registry.find(Architecture, shape.architecture)
    return made(spec, shape).variant(**{**shape.options, **options})


def made(spec: Architecture, shape: Shape | None = None) -> Model:
    """The model of an architecture."""
    groups = tuple(
        tuple(
            Part(LAYERS, registry.layer(slot.layer, **slot.options), each.times, slot.cache)
            for slot in each.slots
        )
        for each in spec.repeats
    )
    one = sympy.Integer(1)
    end = Part(END, spec.end, one, category=spec.output)
    model = Model(spec, Part(START, spec.start, one), groups, end, shape)
    return model.each(lambda part: defined(part, groups, shape))
