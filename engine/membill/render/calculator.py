"""What the calculator knows: models, architectures, recipes, schedules, each with its formulas.

The script on the page does what `membill.bill` and `membill.peak` do, from the same parts: it
multiplies what one of a part keeps by how many of them a device runs and how many micro-batches it
holds, and adds up; and it finds the moment of a step at which most is on the device.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from membill import registry, symbols
from membill.architecture import Architecture
from membill.bill import BUFFERS, TABLES
from membill.config import configurations_data
from membill.device import BATCH, GATHERED, OUTPUTS, UPDATE, WORKING
from membill.finding import made
from membill.json_file import MOST_BYTES
from membill.limits import AT_MOST, DIVIDES, Rule
from membill.mesh import Axis
from membill.models import TIED, Model
from membill.parts import ACTIVATIONS
from membill.pipeline import Schedule
from membill.recipe import GRADIENTS, WEIGHTS, Partition, Recipe
from membill.recompute import Policy
from membill.render.colours import places
from membill.render.functions import Functions, quoted
from membill.render.parts import (
    WIDTH,
    Parts,
    chosen,
    offered,
    policies,
    switches,
    trained_with,
    width,
)
from membill.shapes import Shape
from membill.state import State
from membill.tables import spelled


def script(known: registry.Registry, shapes: Collection[Shape], options: Iterable[str]) -> str:
    """The calculator's data as a script that sets `membill`.

    options: the names of the options of layers that the page offers, besides those that known
    models or configurations choose; others have their defaults.
    """
    functions = Functions()
    parts = Parts(known, functions)
    page = frozenset(options)
    architectures = {
        name: _architecture(made(spec), parts, page | chosen(known, shapes, name))
        for name, spec in known.of(Architecture).items()
    }
    data = {
        "models": {shape.name: _shape(shape) for shape in shapes},
        "architectures": architectures,
        "recipes": {recipe.name: _recipe(recipe) for recipe in trained_with(known)},
        "schedules": {
            name: _schedule(each, functions) for name, each in known.of(Schedule).items()
        },
        "policies": policies(known),
        "summaries": {name: policy.summary for name, policy in known.of(Policy).items()},
        "axes": {name: _axis(axis) for name, axis in known.of(Axis).items()},
        "switches": switches(known),
        "partitions": {
            name: {
                "title": each.title,
                "stages": {stage: sorted(kinds) for stage, kinds in each.stages.items()},
            }
            for name, each in known.of(Partition).items()
        },
        "colours": places(_categories(known)),
        "limits": _rules(AT_MOST),
        "divides": _rules(DIVIDES),
        "symbols": {info.name: [info.meaning, info.least] for info in symbols.table()},
        "files": {**configurations_data(), "bytes": MOST_BYTES},
        "shaped": parts.shaped,
        "variants": [*map(json.loads, parts.variants.rows)],
        "weights": parts.weights.rows,
        "steps": parts.steps.data,
    }
    return (
        f"window.membill = {quoted(data)};\n"
        f"window.membill.checks = {functions.checks()};\n"
        f"window.membill.formulas = {functions.script()};\n"
    )


def _rules(rules: Iterable[Rule]) -> list[tuple[str, str, str]]:
    return [(one.name, other.name, why) for one, other, why in rules]


def _categories(known: registry.Registry) -> list[str]:
    """Every category that a bill or a moment of a step can have."""
    states = (state.name for recipe in trained_with(known) for state in recipe.states)
    ends = (spec.output for spec in known.of(Architecture).values())
    moving = (TABLES, BUFFERS, OUTPUTS, WORKING, BATCH, GATHERED, UPDATE)
    return [*dict.fromkeys((*states, ACTIVATIONS, *ends, *moving))]


def _shape(shape: Shape) -> Mapping[str, Any]:
    return {
        "title": shape.title,
        "architecture": shape.architecture,
        "dims": dict(shape),
        "options": {name: spelled(value) for name, value in shape.options.items()},
    }


def _axis(axis: Axis) -> Mapping[str, str]:
    return {"letter": axis.symbol.name, "title": axis.title}


def _architecture(model: Model, parts: Parts, options: Collection[str]) -> Mapping[str, Any]:
    places = {part: place for place, part in enumerate(model.parts)}
    defined = {
        symbol.name: sorted(free.name for free in value.free_symbols)
        for part in model.parts
        for symbol, value in part.layer.definitions
    }
    return {
        "title": model.title,
        "derived": defined,
        "options": {**offered(model, options), **_tied(model)},
        "parts": [parts.of(part, model, options) for part in model.parts],
        "groups": [
            {
                "parts": [places[part] for part in group],
                "times": parts.functions.of(group[0].times),
            }
            for group in model.groups
        ],
    }


def _tied(model: Model) -> Mapping[str, Any]:
    """Whether the head's weight is the embedding's, as an option, where it can be."""
    both = [*map(spelled, (False, True))]
    return (
        {TIED: {"values": both, "notes": {}, "default": both[0]}} if model.architecture.tied else {}
    )


def _recipe(recipe: Recipe) -> Mapping[str, Any]:
    """A recipe; `added` if gradients have another dtype than weights, so that they are summed."""
    return {
        "title": recipe.title,
        "usual": recipe.usual,
        "states": [_state(recipe, state) for state in recipe.states],
        "step": [_state(recipe, state) for state in recipe.step],
        "added": any(
            width(state.dtype) != (WIDTH, 1) for state in recipe.states if state.kind == GRADIENTS
        ),
    }


def _state(recipe: Recipe, state: State) -> Mapping[str, Any]:
    """A state; `shaped` is what it is called there if weights say how many numbers it keeps."""
    return {
        "name": state.name,
        "kind": state.kind,
        "frozen": state.kind == WEIGHTS,
        "shaped": f"{recipe.name}|{state.name}" if state.of is not None else "",
        "bytes": width(state.dtype),
        "constants": [[each.block, width(each.dtype)] for each in state.constants],
        "small": state.small and [state.small.entries, width(state.small.dtype)],
    }


def _schedule(each: Schedule, functions: Functions) -> Mapping[str, Any]:
    start = each.in_flight if each.at_start is None else each.at_start
    return {
        "title": each.title,
        "chunked": each.chunked,
        "start": functions.of(start),
        "layers": functions.of(each.in_flight),
        "end": functions.of(each.at_end),
        "conditions": [functions.check(condition) for condition in each.conditions],
    }
