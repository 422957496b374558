"""Charts as SVG in the page itself, drawn at build time; the style sheet gives the colours.

A chart is drawn 440 units wide with large type, so that it can still be read at the width of a
telephone. Values are exact ints until they are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

WIDTH = 440
_COLOURS, _DASHES = 8, 4
_LEFT, _RIGHT, _TOP, _PLOT, _BOTTOM = 74, 28, 12, 300, 46
_BAR_STEP, _BAR = 40, 15
_PREFIXES = ("", "k", "M", "G", "T", "P", "E")
_CLOSE = 60
"""Units of width that a label on the horizontal axis needs."""


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
class Curve:
    """A named line through (x, y) points, y an exact int."""

    name: str
    points: Mapping[Any, int]


def bars(items: Sequence[Bar], alt: str) -> Markup:
    """Horizontal bars, each below its label, which may then be long. alt: the chart in words."""
    groups = list(dict.fromkeys(item.group for item in items))
    largest = max((item.value for item in items), default=0) or 1
    parts = []
    for row, item in enumerate(items):
        y = row * _BAR_STEP + 16
        width = max(item.value / largest * WIDTH, 1)
        parts += _labelled(item.label, item.text, y)
        parts.append(_rect(0, y + 5, width, groups.index(item.group)))
    return Markup(_swatches(groups) + _svg(parts, len(items) * _BAR_STEP, alt))


def stacks(items: Sequence[Stack], alt: str) -> Markup:
    """Horizontal bars of parts, each below its label; a part's group gives it its colour."""
    groups = list(dict.fromkeys(part.group for item in items for part in item.parts))
    largest = max((item.value for item in items), default=0) or 1
    drawn = []
    for row, item in enumerate(items):
        y, x = row * _BAR_STEP + 16, 0.0
        drawn += _labelled(item.label, item.text, y)
        for part in item.parts:
            width = part.value / largest * WIDTH
            drawn.append(_rect(x, y + 5, width, groups.index(part.group), part.text))
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
    ticks = (_decades if log_y else _steps)(min(values), max(values))
    across = _scale(ats[0] if log_x else 0, ats[-1], _LEFT, WIDTH - _RIGHT, log_x)
    up = _scale(ticks[0], ticks[-1], _TOP + _PLOT, _TOP, log_y)
    marks = ats if log_x else [mark for mark in _steps(0, ats[-1]) if mark <= ats[-1]]
    parts = [*_grid(ticks, up, unit), *_labels(marks, across, x)]
    for at, item in enumerate(items):
        points = [(across(x_), up(y)) for x_, y in sorted(item.points.items())]
        path = " L".join(f"{px:.1f} {py:.1f}" for px, py in points)
        parts.append(f'<path d="M{path}" class="{_line(at)}"/>')
        parts += [
            f'<circle cx="{px:.1f}" cy="{py:.1f}" r="2.6" class="fill-{at % _COLOURS}"/>'
            for px, py in points
        ]
    swatches = [f'<path d="M0 7H32" class="{_line(at)}"/>' for at in range(len(items))]
    legend = _legend([item.name for item in items], swatches, 32)
    return Markup(_svg(parts, _TOP + _PLOT + _BOTTOM, alt) + legend)


def areas(
    items: Sequence[Mapping[str, int]], alt: str, *, marks: Mapping[int, str], unit: str
) -> Markup:
    """Amounts by name, one place after the other, as areas on top of each other.

    marks: words below places; the largest sum is marked by a dot.
    """
    sums = [sum(item.values()) for item in items]
    ticks = _steps(0, max(sums))
    up = _scale(0, ticks[-1], _TOP + _PLOT, _TOP, False)
    across = _scale(0, len(items) - 1, _LEFT, WIDTH - _RIGHT, False)
    names = [name for name in items[0] if any(item[name] for item in items)]
    below, parts = [0] * len(items), list[str]()
    for colour, name in enumerate(names):
        above = [low + item[name] for low, item in zip(below, items, strict=True)]
        edge = [*enumerate(above), *reversed([*enumerate(below)])]
        outline = " ".join(f"{across(at):.1f},{up(size):.1f}" for at, size in edge)
        title = f"<title>{escape(name)}</title>"
        parts.append(f'<polygon points="{outline}" class="fill-{colour}">{title}</polygon>')
        below = above
    parts += _grid(ticks, up, unit)
    most = max(range(len(sums)), key=sums.__getitem__)
    parts.append(f'<circle cx="{across(most):.1f}" cy="{up(sums[most]):.1f}" r="4" class="peak"/>')
    for row, (at, word) in enumerate(sorted(marks.items())):
        x, y = across(at), _TOP + _PLOT + 18 + 15 * (row % 2)
        anchor = "end" if at > len(items) / 2 else ""
        parts.append(f'<path d="M{x:.1f} {_TOP}V{_TOP + _PLOT + 5}" class="grid"/>')
        parts.append(f'<text x="{x:.1f}" y="{y}" class="{anchor}">{escape(word)}</text>')
    return Markup(_swatches(names) + _svg(parts, _TOP + _PLOT + _BOTTOM, alt))


def amount(value: float, unit: str) -> str:
    """`20 GB`: a round value with a prefix of thousands."""
    power = 0
    while value >= 1000 and power < len(_PREFIXES) - 1:
        value, power = value / 1000, power + 1
    return f"{value:g} {_PREFIXES[power]}{unit}".strip()


def _labelled(label: str, text: str, y: int) -> list[str]:
    return [
        f'<text x="0" y="{y}">{escape(label)}</text>',
        f'<text x="{WIDTH}" y="{y}" class="end">{escape(text)}</text>',
    ]


def _rect(x: float, y: int, width: float, colour: int, title: str = "") -> str:
    start = f'<rect x="{x:.5g}" y="{y}" width="{width:.1f}" height="{_BAR}"'
    body = f"><title>{escape(title)}</title></rect>" if title else "/>"
    return f'{start} class="fill-{colour % _COLOURS}"{body}'


def _swatches(groups: Sequence[str]) -> str:
    """The legend of colours, if there is more than one."""
    drawn = [
        f'<rect width="14" height="14" class="fill-{at % _COLOURS}"/>' for at in range(len(groups))
    ]
    return _legend(groups, drawn, 14) if len(groups) > 1 else ""


def _line(index: int) -> str:
    """Colour and dashes change together, and the pairs repeat only after both have."""
    return f"line-{index % _COLOURS} dash-{(index + index // _COLOURS) % _DASHES}"


def _scale(
    first: float, last: float, start: float, end: float, logarithmic: bool
) -> Callable[[float], float]:
    measure: Callable[[float], float] = math.log if logarithmic else float
    low, high = measure(first), measure(last)
    span = (high - low) or 1.0
    return lambda value: start + (measure(value) - low) / span * (end - start)


def _decades(low: float, high: float) -> list[float]:
    """Round values that enclose both: powers of ten, with 2 and 5 between them if those are few."""
    first = math.floor(math.log10(low))
    powers = range(first, math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if len(powers) <= 3 else (1,)
    marks = [step * 10.0**power for power in powers for step in steps]
    below = max((mark for mark in marks if mark <= low), default=marks[0])
    above = min((mark for mark in marks if mark >= high and mark > below), default=marks[-1])
    return [mark for mark in marks if below <= mark <= above]


def _steps(_: float, high: float) -> list[float]:
    """Even values from 0 to the first one above all."""
    rough = (high or 1) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(each * power for each in (1, 2, 5, 10) if each * power >= rough)
    return [step * number for number in range(math.ceil(high / step) + 1)]


def _grid(ticks: Sequence[float], up: Callable[[float], float], unit: str) -> list[str]:
    lines = []
    for tick in ticks:
        y = up(tick)
        lines += [
            f'<path d="M{_LEFT} {y:.1f}H{WIDTH - _RIGHT}" class="grid"/>',
            f'<text x="{_LEFT - 8}" y="{y + 4.5:.1f}" class="end">{amount(tick, unit)}</text>',
        ]
    return lines


def _labels(ats: Sequence[float], across: Callable[[float], float], title: str) -> list[str]:
    """Labels below the axis, as many as have room; the last one always."""
    shown = list(ats[-1:])
    for at in reversed(ats[:-1]):
        if across(shown[-1]) - across(at) >= min(_CLOSE, 14 + 9 * len(f"{shown[-1]:,.10g}")):
            shown.append(at)
    y = _TOP + _PLOT + 20
    middle = (_LEFT + WIDTH - _RIGHT) / 2
    return [
        *(f'<text x="{across(at):.1f}" y="{y}" class="middle">{at:,.10g}</text>' for at in shown),
        f'<text x="{middle}" y="{y + 21}" class="middle">{escape(title)}</text>',
    ]


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
