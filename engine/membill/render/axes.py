"""The axes of a chart: where values lie on the drawing, round marks, and labels beside them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from markupsafe import escape

WIDTH = 440
LEFT, RIGHT, TOP, PLOT, BOTTOM = 74, 28, 12, 300, 46
FLOOR, END = TOP + PLOT, WIDTH - RIGHT
"""Where the plot ends, below and to the right."""

_PREFIXES = ("", "k", "M", "G", "T", "P", "E")
_CLOSE = 60
"""Units of width that a label on the horizontal axis needs."""


def amount(value: float, unit: str) -> str:
    """`20 GB`: a round value with a prefix of thousands."""
    power = 0
    while value >= 1000 and power < len(_PREFIXES) - 1:
        value, power = value / 1000, power + 1
    return f"{value:g} {_PREFIXES[power]}{unit}".strip()


def scale(
    first: float, last: float, start: float, end: float, logarithmic: bool
) -> Callable[[float], float]:
    """Where a value lies between `start` and `end`, if `first` and `last` lie there."""
    measure: Callable[[float], float] = math.log if logarithmic else float
    low, high = measure(first), measure(last)
    span = (high - low) or 1.0
    return lambda value: start + (measure(value) - low) / span * (end - start)


def decades(low: float, high: float) -> list[float]:
    """Round values that enclose both: powers of ten, with 2 and 5 between them if those are few."""
    first = math.floor(math.log10(low))
    powers = range(first, math.ceil(math.log10(high)) + 1)
    steps_ = (1, 2, 5) if len(powers) <= 3 else (1,)
    marks = [step * 10.0**power for power in powers for step in steps_]
    below = max((mark for mark in marks if mark <= low), default=marks[0])
    above = min((mark for mark in marks if mark >= high and mark > below), default=marks[-1])
    return [mark for mark in marks if below <= mark <= above]


def steps(_: float, high: float) -> list[float]:
    """Even values from 0 to the first one above all."""
    rough = (high or 1) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(each * power for each in (1, 2, 5, 10) if each * power >= rough)
    return [step * number for number in range(math.ceil(high / step) + 1)]


def grid(ticks: Sequence[float], up: Callable[[float], float], unit: str) -> list[str]:
    """Lines across the plot at each tick, with its amount to the left."""
    lines = []
    for tick in ticks:
        y = up(tick)
        lines += [
            f'<path d="M{LEFT} {y:.1f}H{END}" class="grid"/>',
            f'<text x="{LEFT - 8}" y="{y + 4.5:.1f}" class="end">{amount(tick, unit)}</text>',
        ]
    return lines


def labels(ats: Sequence[float], across: Callable[[float], float], title: str) -> list[str]:
    """Labels below the axis, as many as have room; the last one always."""
    shown = list(ats[-1:])
    for at in reversed(ats[:-1]):
        if across(shown[-1]) - across(at) >= min(_CLOSE, 14 + 9 * len(f"{shown[-1]:,.10g}")):
            shown.append(at)
    y = FLOOR + 20
    return [
        *(f'<text x="{across(at):.1f}" y="{y}" class="middle">{at:,.10g}</text>' for at in shown),
        f'<text x="{(LEFT + END) / 2}" y="{y + 21}" class="middle">{escape(title)}</text>',
    ]
