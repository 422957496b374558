"""Charts as SVG in the page itself, drawn at build time; the style sheet gives the colours.

A chart is drawn 440 units wide with large type, so that it can still be read at the width of a
telephone. Values are exact ints until they are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy
from markupsafe import Markup, escape

from membill.render import axes, colours, placing
from membill.render.axes import BOTTOM, END, FLOOR, LEFT, TOP, WIDTH
from membill.render.placing import Box, Point, Room

_COLOURS, _DASHES = 8, 4
_BAR_STEP, _BAR = 40, 15
_RING, _ROW = 5, 15
_NEAR, _WIDEST = 2.5, 3
"""Lines so near all along lie on each other, the lower ones wider, up to so many times."""


@dataclass(frozen=True)
class Bar:
    """A bar: its label, the group that gives it its colour, its size as value and as text."""

    label: str
    group: str
    value: float
    text: str


@dataclass(frozen=True)
class Stack:
    """A bar made of others, one after the other; `text` is what they come to."""

    label: str
    parts: Sequence[Bar]
    text: str

    @property
    def value(self) -> float:
        """The length of the whole."""
        return sum(part.value for part in self.parts)


@dataclass(frozen=True)
class Crossing:
    """Where a line crosses another, or its own terms do: a ring at (at, value).

    words: what happens there, up to where. form: the place as a formula, if it has one.
    """

    at: int
    value: int
    label: str
    words: Markup
    form: sympy.Expr | None = None


@dataclass(frozen=True)
class Curve:
    """A named line through (x, y) points, y an exact int. names: of points that have one, by x."""

    name: str
    points: Mapping[Any, int]
    crossings: Sequence[Crossing] = ()
    names: Mapping[Any, str] = field(default_factory=dict)


def bars(items: Sequence[Bar], alt: str) -> Markup:
    """Horizontal bars, each below its label, which may then be long. alt: the chart in words."""
    groups = {group: at for at, group in enumerate(dict.fromkeys(item.group for item in items))}
    largest = max((item.value for item in items), default=0) or 1
    parts = []
    for row, item in enumerate(items):
        y = row * _BAR_STEP + 16
        width = max(item.value / largest * WIDTH, 1)
        parts += _labelled(item.label, item.text, y)
        parts.append(_rect(0, y + 5, width, groups[item.group]))
    return Markup(_swatches(groups) + _svg(parts, len(items) * _BAR_STEP, alt))


def stacks(items: Sequence[Stack], alt: str) -> Markup:
    """Horizontal bars of parts, each below its label; a part's group gives it its colour."""
    groups = colours.places(part.group for item in items for part in item.parts)
    largest = max((item.value for item in items), default=0) or 1
    drawn = []
    for row, item in enumerate(items):
        y, x = row * _BAR_STEP + 16, 0.0
        drawn += _labelled(item.label, item.text, y)
        for part in item.parts:
            width = part.value / largest * WIDTH
            drawn.append(_rect(x, y + 5, width, groups[part.group], part.text))
            x += width
    return Markup(_swatches(groups) + _svg(drawn, len(items) * _BAR_STEP, alt))


def curves(
    items: Sequence[Curve], alt: str, *, x: str, unit: str, log_x: bool = True, log_y: bool = True
) -> Markup:
    """Lines, each with its own colour and dashes.

    x: what the horizontal axis counts. unit: of the values. log_x, log_y: logarithmic axes; an
    axis that is not starts at 0.
    """
    ats = sorted({at for item in items for at in item.points})
    values = [y for item in items for y in item.points.values()]
    ticks = (axes.decades if log_y else axes.steps)(min(values), max(values))
    across = axes.scale(ats[0] if log_x else 0, ats[-1], LEFT, END, log_x)
    up = axes.scale(ticks[0], ticks[-1], FLOOR, TOP, log_y)
    marks = ats if log_x else [mark for mark in axes.steps(0, ats[-1]) if mark <= ats[-1]]
    paths = [[(across(at), up(y)) for at, y in sorted(item.points.items())] for item in items]
    looks = [_line(at, wide) for at, wide in enumerate(_widths(paths))]
    parts = [*axes.grid(ticks, up, unit), *axes.labels(marks, across, x)]
    for at, (path, look) in enumerate(zip(paths, looks, strict=True)):
        drawn = " L".join(f"{px:.1f} {py:.1f}" for px, py in path)
        parts.append(f'<path d="M{drawn}" class="{look}"/>')
        if "under" not in look:
            dots = "".join(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="2.6"/>' for px, py in path)
            parts.append(f'<g class="fill-{at % _COLOURS}">{dots}</g>')
    room = Room(Box(LEFT, 0, WIDTH, FLOOR), paths)
    crossings = [each for item in items for each in item.crossings]
    rings = [(across(each.at), up(each.value), each.label) for each in crossings]
    named = [
        (across(at), up(item.points[at]), name) for item in items for at, name in item.names.items()
    ]
    parts += _marked(rings, room, "ring") + _marked(named, room)
    swatches = [f'<path d="M0 7H32" class="{look}"/>' for look in looks]
    legend = _legend([item.name for item in items], swatches, 32)
    return Markup(_svg(parts, FLOOR + BOTTOM, alt) + legend)


def _marked(points: Sequence[tuple[float, float, str]], room: Room, ring: str = "") -> list[str]:
    """Points with their labels, as far as there is room; rings on each other are one."""
    shown: list[tuple[float, float, str]] = []
    for x, y, label in points:
        if not any(math.dist((x, y), near[:2]) < _NEAR for near in shown):
            room.take(x, y, _RING)
            shown.append((x, y, label))
    circles = [_circle(x, y, _RING, ring) for x, y, _ in shown if ring]
    return circles + [text for x, y, label in shown for text in room.label(x, y, label)]


def _widths(paths: Sequence[Sequence[Point]]) -> list[int]:
    """How much wider each line is for those that lie on it all along."""
    found = [0] * len(paths)
    for at in reversed(range(len(paths))):
        above = (found[on] + 1 for on in range(at + 1, len(paths)) if _near(paths[at], paths[on]))
        found[at] = min(max(above, default=0), _WIDEST)
    return found


def _near(one: Sequence[Point], other: Sequence[Point]) -> bool:
    if len(one) < 2 or [x for x, _ in one] != [x for x, _ in other]:
        return False
    return all(abs(y - beside) < _NEAR for (_, y), (_, beside) in zip(one, other, strict=True))


def areas(
    items: Sequence[Mapping[str, int]], alt: str, *, marks: Mapping[int, str], most: str, unit: str
) -> Markup:
    """Amounts by name, one place after the other, as areas on top of each other.

    marks: words below places; the largest sum is marked by a dot, and `most` is what it comes to.
    """
    sums = [sum(item.values()) for item in items]
    ticks = axes.steps(0, max(sums))
    up = axes.scale(0, ticks[-1], FLOOR, TOP, False)
    across = axes.scale(0, len(items) - 1, LEFT, END, False)
    named = colours.places(name for name in items[0] if any(item[name] for item in items))
    words = [*_words(marks, across)]
    parts = [*axes.grid(ticks, up, unit)]
    for x, word, anchor, row in words:
        parts.append(f'<path d="M{x:.1f} {TOP}V{FLOOR + 5}" class="grid"/>')
        parts.append(placing.text_at(x, FLOOR + 18 + _ROW * row, word, anchor))
    below = [0] * len(items)
    for name, colour in named.items():
        above = [low + item[name] for low, item in zip(below, items, strict=True)]
        edge = [*enumerate(above), *reversed([*enumerate(below)])]
        outline = " ".join(f"{across(at):.1f},{up(size):.1f}" for at, size in edge)
        title = f"<title>{escape(name)}</title>"
        parts.append(f'<polygon points="{outline}" class="fill-{colour}">{title}</polygon>')
        below = above
    at = max(range(len(sums)), key=sums.__getitem__)
    outer = [(across(place), up(size)) for place, size in enumerate(sums)]
    room = Room(Box(LEFT, 0, WIDTH, FLOOR), [outer])
    parts += _marked([(*outer[at], most)], room, "peak")
    height = FLOOR + 24 + _ROW * max(row for *_, row in words)
    return Markup(_swatches(named) + _svg(parts, height, alt))


def _words(
    marks: Mapping[int, str], across: Callable[[float], float]
) -> Iterable[tuple[float, str, str, int]]:
    """Words below places, within the plot, in another row only where that is needed."""
    at = ((across(place), word) for place, word in sorted(marks.items()))
    middle = (LEFT + END) / 2
    return placing.rows((x, word, "end" if x > middle else "") for x, word in at)


def _labelled(label: str, text: str, y: int) -> list[str]:
    return [
        placing.text_at(0, y, label),
        placing.text_at(WIDTH, y, text, "end"),
    ]


def _rect(x: float, y: int, width: float, colour: int, title: str = "") -> str:
    start = f'<rect x="{x:.5g}" y="{y}" width="{width:.1f}" height="{_BAR}"'
    body = f"><title>{escape(title)}</title></rect>" if title else "/>"
    return f'{start} class="fill-{colour}"{body}'


def _circle(x: float, y: float, radius: float, look: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" class="{look}"/>'


def _swatches(groups: Mapping[str, int]) -> str:
    """The legend of colours, if there is more than one."""
    drawn = [f'<rect width="14" height="14" class="fill-{at}"/>' for at in groups.values()]
    return _legend([*groups], drawn, 14) if len(groups) > 1 else ""


def _line(index: int, wide: int) -> str:
    """Colour and dashes change together, and the pairs repeat only after both have."""
    dash = f"under-{wide}" if wide else f"dash-{(index + index // _COLOURS) % _DASHES}"
    return f"line-{index % _COLOURS} {dash}"


def _svg(parts: Sequence[str], height: float, alt: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" role="img"'
        f' aria-label="{escape(alt)}">{"".join(parts)}</svg>'
    )


def _legend(names: Sequence[str], swatches: Sequence[str], width: int) -> str:
    """Beside the drawing, as a list, which a narrow page can break."""
    entries = (
        f'<li><svg width="{width}" height="14" aria-hidden="true">{swatch}</svg>{escape(name)}</li>'
        for name, swatch in zip(names, swatches, strict=True)
    )
    return f'<ul class="legend">{"".join(entries)}</ul>'
