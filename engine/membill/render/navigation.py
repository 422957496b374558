"""The generated parts of the site's navigation, by the titles that mkdocs.yml gives them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from membill import registry
from membill.mesh import Axis
from membill.recipe import Recipe
from membill.render.api import PublicName
from membill.render.environment import shapes

PLANS = {
    "pipeline": "Pipeline",
    "recomputation": "Recomputation",
    "precision": "Precision",
    "adapters": "Freezing and adapters",
    "states": "Model states",
    "offload": "Offload",
}
"""The transforms that have a page each, besides the axes of a mesh, which are data."""


def navigation(
    known: registry.Registry, api: Iterable[PublicName], folder: str
) -> list[dict[str, Any]]:
    """The sections whose pages follow from the registry and from what is public."""
    axes = {axis.name: axis.summary.partition(":")[0] for axis in known.of(Axis).values()}
    layers = {layer.name: layer.title for layer in known.layers.values()}
    models = {shape.name: shape.title for shape in shapes(known)}
    recipes = {recipe.name: recipe.title for recipe in known.of(Recipe).values()}
    sections: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {
        "Layers": ("layers", {"layers": "All layers", "ops": "Ops"}, layers),
        "Models": ("models", {"models": "All models"}, models),
        "Plans": ("plans", {"plans": "All plans"}, axes | PLANS),
        "Recipes": ("recipes", {"recipes": "All recipes"}, recipes),
        "Python API": ("api", {"api": "All names"}, {each.page: each.title for each in api}),
    }
    return [
        {title: [*_pages(first, folder), *_pages(rest, f"{folder}/{below}")]}
        for title, (below, first, rest) in sections.items()
    ]


def _pages(titles: Mapping[str, str], folder: str) -> list[dict[str, str]]:
    return [{title: f"{folder}/{name}.md"} for name, title in titles.items()]


def merged(
    written: Iterable[Mapping[str, Any]], generated: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """A navigation as mkdocs.yml has it, its sections put in by title; others come last."""
    sections = {title: pages for part in generated for title, pages in part.items()}
    own = [{title: sections.pop(title, pages)} for part in written for title, pages in part.items()]
    return [*own, *({title: pages} for title, pages in sections.items())]
