"""A stack of layers recomputed in segments: how long a segment makes the memory least.

Keeping the input of every segment of s layers costs L/s inputs; rebuilding one segment costs the
activations of s layers at once. The best s follows by setting the derivative to zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import sympy

from membill.errors import InputError
from membill.formula import Formula
from membill.symbols import L, s


@dataclass(frozen=True)
class Segments:
    """Bytes of a stack in segments of s layers, the best s, and the bytes at that.

    total: over s and L. best, least: exact expressions with square roots; a real number of layers.
    """

    total: sympy.Expr
    best: sympy.Expr
    least: sympy.Expr


def segments(boundary: sympy.Expr, inside: sympy.Expr) -> Segments:
    """The optimum for `boundary` bytes kept of a segment and `inside` bytes rebuilt per layer."""
    best, least = _optimum()
    put = {_BOUNDARY: boundary, _INSIDE: inside}
    exact = (sympy.sqrt(sympy.cancel((root**2).subs(put))) for root in (best, least))
    return Segments(L / s * boundary + s * inside, *exact)


_BOUNDARY, _INSIDE = sympy.symbols("boundary inside", positive=True)


@cache
def _optimum() -> tuple[sympy.Expr, sympy.Expr]:
    """The best segment, where the derivative of the bytes is zero, and the bytes at that."""
    total = L / s * _BOUNDARY + s * _INSIDE
    slope, _ = sympy.fraction(sympy.together(sympy.diff(total, s)))
    best = next(root for root in sympy.roots(slope, s) if root.is_positive)
    return best, total.subs(s, best)


def best_length(boundary: Formula, inside: Formula, layers: int, **values: int) -> tuple[int, int]:
    """The whole number of layers in a segment that takes fewest bytes, and those bytes.

    The last segment may be shorter. Raises InputError unless layers is an integer > 0.
    """
    if type(layers) is not int or layers <= 0:
        raise InputError(f"layers = {layers!r} is not an integer > 0")
    kept, rebuilt = boundary(**values), inside(**values)
    sizes = {n: -(-layers // n) * kept + n * rebuilt for n in range(1, layers + 1)}
    best = min(sizes, key=lambda n: (sizes[n], n))
    return best, sizes[best]
