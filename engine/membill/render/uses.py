"""Where each letter appears: the layers, models, recipes and plans whose formulas hold it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import sympy

from membill import registry
from membill.cache import Cache
from membill.layers import Layer
from membill.mesh import Axis
from membill.pipeline import Schedule
from membill.plans import LETTERS
from membill.recipe import Recipe
from membill.shapes import Shape
from membill.symbols import N_d


@dataclass(frozen=True)
class Place:
    """A page below the reference's folder, by its title."""

    page: str
    title: str


@dataclass(frozen=True)
class Kind:
    """The pages of one kind on which a letter appears; `of` is how many of the kind there are."""

    page: str
    name: str
    places: tuple[Place, ...]
    of: int

    @property
    def everywhere(self) -> bool:
        """Whether the letter is on all of several pages."""
        return len(self.places) == self.of > 1


def uses(known: registry.Registry, shapes: Sequence[Shape]) -> Mapping[str, tuple[Kind, ...]]:
    """By the name of each letter, the kinds of pages that it appears on."""
    every = {
        ("layers", "layers"): {_layer(each): _of_layer(each) for each in known.layers.values()},
        ("models", "models"): {
            Place(f"models/{each.name}", each.title): set(each) for each in shapes
        },
        ("plans/states", "recipes"): {
            Place(f"recipes/{each.name}", each.title): _of_recipe(each)
            for each in known.of(Recipe).values()
        },
        ("plans", "plans"): dict(_plans(known)),
        ("inference", "pages"): {
            Place("inference", "inference"): _names(
                each.bytes().expr for each in known.of(Cache).values()
            )
        },
    }
    letters = sorted({name for pages in every.values() for held in pages.values() for name in held})
    return {letter: tuple(_kinds(letter, every)) for letter in letters}


def _kinds(
    letter: str, every: Mapping[tuple[str, str], Mapping[Place, set[str]]]
) -> Iterator[Kind]:
    for (page, name), pages in every.items():
        places = tuple(place for place, held in pages.items() if letter in held)
        if places:
            yield Kind(page, name, places, len(pages))


def _layer(layer: Layer) -> Place:
    return Place(f"layers/{layer.name}", layer.title)


def _of_layer(layer: Layer) -> set[str]:
    ledger = layer.ledger(specialise=False)
    put_in = (side for pair in layer.definitions for side in pair)
    return _names((ledger.total().expr, ledger.parameters().expr, *put_in))


def _of_recipe(recipe: Recipe) -> set[str]:
    from membill.kept import kept

    return _names(size for kind in kept(recipe) for size in kind.states.values())


def _plans(known: registry.Registry) -> Iterator[tuple[Place, set[str]]]:
    for axis in known.of(Axis).values():
        title = axis.summary.partition(":")[0].lower()
        yield Place(f"plans/{axis.name}", title), {axis.symbol.name}
    schedules = (each.in_flight for each in known.of(Schedule).values())
    yield Place("plans/pipeline", "pipeline"), _names((*schedules, *LETTERS.values()))
    yield Place("plans/states", "model states"), {N_d.name}


def _names(found: Iterable[sympy.Basic]) -> set[str]:
    return {symbol.name for expr in found for symbol in expr.free_symbols}
