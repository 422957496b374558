"""One colour for one category on every page: what stands together in a bar is told apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain, cycle

from membill.architecture import Architecture
from membill.bill import BUFFERS, TABLES
from membill.device import BATCH, GATHERED, OUTPUTS, UPDATE, WORKING
from membill.parts import ACTIVATIONS
from membill.recipe import Recipe
from membill.registry import everything

STATES, KEPT, REST = "other states", "kept for backward", f"{TABLES} and {BUFFERS}"

COLOURS = 14
"""How many the style sheet has, neighbours in a bar being the furthest apart."""


def places(names: Iterable[str]) -> Mapping[str, int]:
    """The number of each name's colour; what is no category takes those that are seldom used."""
    known = _known()
    free = chain((known[STATES],), _seldom())
    return {name: known[name] if name in known else next(free) for name in dict.fromkeys(names)}


@cache
def _known() -> Mapping[str, int]:
    """The categories of usual bills, and then the states that only other recipes have."""
    rows = _rows()
    found = {name: place for place, names in enumerate(rows) for name in names}
    every = (state.name for recipe in everything(Recipe).values() for state in recipe.every)
    others = dict.fromkeys(name for name in every if name not in found)
    return {**found, **dict(zip(others, _seldom(), strict=False))}


@cache
def _rows() -> tuple[tuple[str, ...], ...]:
    """The categories of usual bills in their order; those that never meet share a row."""
    usual = next(recipe for recipe in everything(Recipe).values() if recipe.usual)
    ends = dict.fromkeys(spec.output for spec in everything(Architecture).values())
    return (
        *((state.name,) for state in usual.every),
        (STATES, GATHERED, UPDATE, BATCH),
        (ACTIVATIONS, KEPT),
        (OUTPUTS,),
        tuple(ends),
        (TABLES, REST),
        (BUFFERS,),
        (WORKING,),
    )


def _seldom() -> Iterator[int]:
    return cycle(range(len(_rows()), COLOURS))
