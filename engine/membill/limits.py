"""What must hold between the dimensions of any model, and what it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import sympy

from membill.errors import InputError
from membill.symbols import P, T, h, n_kv

Rule = tuple[sympy.Symbol, sympy.Symbol, str]
"""Two letters, and a reason for what must hold of them."""

AT_MOST = ((T, P, "the positions that it has"),)
"""Letters that may not exceed another one of which a model has a number, and what that one is."""

DIVIDES = ((n_kv, h, "as many query heads share each key-value head"),)
"""Letters of which the one divides the other where a model has a number for both, and why."""


def check(sizes: Mapping[str, int], model: str) -> None:
    """InputError for dimensions of a model that cannot be, with the reason."""
    for less, more, why in _given(AT_MOST, sizes):
        if sizes[less] > sizes[more]:
            raise InputError(
                f"{less} = {sizes[less]} of model {model!r} exceeds {more} = "
                f"{sizes[more]}, {why}; give {more}=... too for another model of its kind"
            )
    for divisor, whole, why in _given(DIVIDES, sizes):
        if sizes[whole] % sizes[divisor]:
            raise InputError(
                f"{divisor} = {sizes[divisor]} does not divide {whole} = {sizes[whole]} of "
                f"model {model!r}: {why}"
            )


def _given(rules: Iterable[Rule], sizes: Mapping[str, int]) -> Iterator[tuple[str, str, str]]:
    """The names in the rules of whose letters both have a number."""
    for one, other, why in rules:
        if one.name in sizes and other.name in sizes:
            yield one.name, other.name, why


def limit(letter: str, sizes: Mapping[str, int]) -> int | None:
    """The most that a letter can be at these dimensions; None for no limit."""
    found = [
        sizes[more.name] for less, more, _ in AT_MOST if less.name == letter and more.name in sizes
    ]
    return min(found, default=None)
