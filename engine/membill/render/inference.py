"""What the page of inference states: kinds of cache side by side, models, pages, what fits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from membill import units
from membill.cache import Cache, CacheBill
from membill.finding import model
from membill.formats import Format, weight_bytes
from membill.formula import Formula
from membill.models import Model
from membill.render.charts import Curve
from membill.render.facts import CURVE, LENGTHS
from membill.serving import Served, served
from membill.shapes import Shape
from membill.symbols import T, b

BLOCKS = (16, 32, 64, 128, 256)
"""Tokens in a block, in the table of waste."""

TOKENS = LENGTHS[0] + 1
"""Tokens of a sequence in that table: one more than blocks that are full."""

MEMORIES = ("24GB", "48GB", "80GB", "141GB", "192GB")
"""Memories of devices, in the table of what fits."""


@dataclass(frozen=True)
class Kind:
    """A kind of cache: bytes that one layer keeps of a sequence, and of one more token.

    beyond: of one more token once the window is full.
    """

    cache: Cache
    sequence: Formula
    token: Formula
    beyond: Formula


def kinds(found: Iterable[Cache]) -> tuple[Kind, ...]:
    """Each kind, in the compute format."""
    return tuple(map(_kind, found))


def _kind(found: Cache) -> Kind:
    every = found.bytes().subs({b: 1})
    full = every if found.window is None else every.subs({T: found.window + T})
    window = every.expr if found.window is None else every.expr.subs({found.bounded(T): T})
    return Kind(found, every, Formula(window.diff(T), "bytes"), Formula(full.expr.diff(T), "bytes"))


@dataclass(frozen=True)
class Cached:
    """A model of known dimensions and its cache of one sequence."""

    model: Model
    bill: CacheBill

    @property
    def kinds(self) -> tuple[str, ...]:
        """The titles of its layers' kinds, each once."""
        return tuple(dict.fromkeys(row.cache.title for row in self.bill.rows))

    @property
    def token(self) -> int:
        """Bytes of one more token."""
        return self.bill.size(self.bill.token)

    @property
    def beyond(self) -> int:
        """Bytes of one more token once every window is full."""
        return self.bill.size(self.bill.token_beyond)

    def at(self, length: int) -> int:
        """Bytes of a sequence of so many tokens."""
        return int(self.bill.total(**{**self.bill.values, "T": length}))


@cache
def cached(name: str, **settings: Any) -> Cached:
    """A model by name; settings as in `Model.cache`."""
    found = model(name)
    return Cached(found, found.cache(b=1, **settings))


def caching(shapes: Iterable[Shape]) -> tuple[Cached, ...]:
    """Every model that caches anything, those with most bytes a token first."""
    found = (cached(shape.name) for shape in shapes)
    return tuple(sorted((each for each in found if each.bill.rows), key=lambda each: -each.token))


def against_length(named: dict[str, Cached]) -> tuple[Curve, ...]:
    """Bytes of a sequence against its length."""
    return tuple(
        Curve(name, {length: each.at(length) for length in CURVE}) for name, each in named.items()
    )


def ends(curves: Iterable[Curve]) -> str:
    """The last points of curves in words."""
    last = CURVE[-1]
    return ", ".join(f"{curve.name} {units.gb(curve.points[last])}" for curve in curves)


def paged(name: str) -> Iterator[tuple[int, CacheBill]]:
    """A model's cache of one sequence of `TOKENS` in blocks of each size."""
    return ((block, model(name).cache(b=1, T=TOKENS, block=block)) for block in BLOCKS)


def weights(name: str, given: Format) -> int:
    """Bytes of a model's weights in a format."""
    found = model(name)
    return int(weight_bytes(found, given, values=found.values())(**found.values()))


def fits(
    name: str, length: int, formats: Iterable[Format]
) -> Iterator[tuple[Format, list[Served]]]:
    """For weights in each format, what is served in each memory; the cache in 16 bits."""
    bill = model(name).cache(T=length)
    sizes = [units.size(memory, "memory") for memory in MEMORIES]
    return ((each, [served(bill, memory, each.name) for memory in sizes]) for each in formats)
