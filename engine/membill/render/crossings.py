"""Formulas against T as lines, with where they cross and where squares take over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, permutations

import sympy
from markupsafe import Markup

from membill.errors import InputError
from membill.formula import Formula
from membill.growth import crossover, exceeds_from
from membill.render.charts import Crossing, Curve
from membill.render.facts import Mode, at
from membill.shapes import Shape
from membill.symbols import T, named


def lines(
    formulas: Mapping[str, Formula], shape: Shape, lengths: Sequence[int]
) -> tuple[Curve, ...]:
    """Each formula over lengths of one sequence, marked where it comes to exceed another one."""
    curves = {
        name: Curve(name, {length: formula(**at(shape, length)) for length in lengths})
        for name, formula in formulas.items()
    }
    met: dict[str, list[Crossing]] = {name: [] for name in formulas}
    for one, other in permutations(formulas, 2):
        for low, high in _changes(curves[one].points, curves[other].points):
            length = _exceeds(formulas[one], formulas[other], shape, low, high)
            if length is not None:
                words = Markup("<b>{}</b> exceeds <b>{}</b> from").format(one, other)
                met[one].append(_crossing(length, formulas[one], shape, words))
    return tuple(replace(curve, crossings=met[name]) for name, curve in curves.items())


def squares(mode: Mode, name: str, shape: Shape, lengths: Sequence[int]) -> Iterator[Crossing]:
    """Where the terms in T² of a mode become as large as all others, if that is within."""
    if T**2 not in mode.activations.expr.atoms(sympy.Pow):
        return
    form = crossover(mode.layer, recompute=mode.policy)
    put = {named(letter).symbol: size for letter, size in at(shape, lengths[0]).items()}
    length = int(sympy.ceiling(form.xreplace(put)))
    if lengths[0] < length <= lengths[-1]:
        words = Markup(
            "The terms in <var>T</var>² of <b>{}</b> are as large as all others, per-token "
            "statistics apart, from"
        ).format(name)
        shown = form if form.is_rational_function() else None
        yield _crossing(length, mode.activations, shape, words, shown)


def listed(curves: Iterable[Curve]) -> tuple[Crossing, ...]:
    """All crossings of some lines, the first one first."""
    return tuple(sorted((c for each in curves for c in each.crossings), key=lambda c: c.at))


def _changes(one: Mapping[int, int], other: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Between which points the one comes to exceed the other."""
    unlike = [length for length in one if one[length] != other[length]]
    for low, high in pairwise(unlike):
        if one[low] < other[low] and one[high] > other[high]:
            yield low, high


def _exceeds(one: Formula, other: Formula, shape: Shape, low: int, high: int) -> int | None:
    """None where a formula does not hold for every length between."""
    sizes = {name: size for name, size in at(shape, low).items() if name != T.name}
    try:
        return exceeds_from(one, other, T.name, low=low, high=high, **sizes)
    except InputError:
        return None


def _crossing(
    length: int, formula: Formula, shape: Shape, words: Markup, form: sympy.Expr | None = None
) -> Crossing:
    value = formula(**at(shape, length))
    return Crossing(length, value, f"{T.name} = {length:,}", words, form)
