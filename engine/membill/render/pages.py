"""Every page of the reference, as text by path: a pure function of the registry."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import jinja2

from membill import registry
from membill.architecture import Architecture
from membill.bill import LEFT_OUT
from membill.mesh import Axis
from membill.recipe import Recipe
from membill.render import audited, math, plans
from membill.render.api import public
from membill.render.commands import described
from membill.render.environment import shapes
from membill.render.gradients import Usage, usages
from membill.render.layer_page import layer_page
from membill.render.navigation import PLANS
from membill.render.uses import uses

Pages = Mapping[str, str]
"""Text by path below the folder of the reference."""

SINGLE = ("layers", "models", "plans", "worked", "peak", "inference", "published", "recipes")
"""Pages whose templates ask the environment for all that they show."""


def library(files: Iterable[Path] = ()) -> registry.Registry:
    """What the installed spec packages declare, and what spec files of the user's add to it."""
    known = registry.known()
    for file in files:
        more = registry.specs_in(file)
        known = replace(
            known, layers=known.layers | dict(more.layers), ops=known.ops | dict(more.ops)
        )
    return known


def pages(known: registry.Registry, made: jinja2.Environment) -> Pages:
    """All pages of the reference."""
    api = public()
    found = {f"{name}.md": _render(made, f"{name}.md.j2") for name in SINGLE}
    found["audit.md"] = _render(made, "audit.md.j2", audits=audited.shipped(known))
    found["ops.md"] = _render(made, "ops.md.j2", usages=_usages(known))
    found["commands.md"] = _render(made, "commands.md.j2", commands=described())
    found["api.md"] = _render(made, "api.md.j2", names=api)
    found["letters.js"] = script_of_letters()
    found["calculator.md"] = _render(made, "calculator.md.j2", left_out=LEFT_OUT)
    found["calculator.js"] = _render(made, "calculator.js.j2")
    for each in api:
        found[f"api/{each.page}.md"] = _render(made, "api_name.md.j2", name=each)
    for axis in known.of(Axis).values():
        found[f"plans/{axis.name}.md"] = _render(made, "plans/mesh.md.j2", **_mesh(axis, known))
    for name in PLANS:
        found[f"plans/{name}.md"] = _render(made, f"plans/{name}.md.j2")
    for recipe in known.of(Recipe).values():
        found[f"recipes/{recipe.name}.md"] = _render(made, "recipe.md.j2", recipe=recipe)
    for shape in shapes(known):
        found[f"models/{shape.name}.md"] = _render(made, "model.md.j2", shape=shape)
    for layer in known.layers.values():
        page = layer_page(layer, known)
        found[f"layers/{layer.name}.md"] = _render(made, "layer.md.j2", page=page, layer=layer)
    found["symbols.md"] = _render(made, "symbols.md.j2", uses=uses(found))
    return found


def _usages(known: registry.Registry) -> tuple[Usage, ...]:
    specs = known.of(Architecture).values()
    return usages(known.ops.values(), known.layers.values(), specs, shapes(known))


def _mesh(axis: Axis, known: registry.Registry) -> Mapping[str, object]:
    """What the template of an axis asks for: how it is asked for, what layers it divides."""
    return {
        "axis": axis,
        "ways": plans.ways(axis, known.rules),
        "reached": plans.reached(axis, known.layers.values(), known.rules),
    }


def _render(made: jinja2.Environment, template: str, **context: object) -> str:
    return made.get_template(template).render(**context)


def script_of_letters() -> str:
    """What each letter of a formula means, by its text, as a script that sets `letters`."""
    meanings = {text: [info.name, info.meaning] for text, info in math.letters().items()}
    return f"const letters = {json.dumps(meanings, ensure_ascii=False)};\n"
