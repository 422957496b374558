"""Where a label has room in a drawing: beside its point, off all lines and other labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from markupsafe import escape

Point = tuple[float, float]

_LETTER, _ASCENT, _DESCENT = 7.4, 12, 4
_AWAY, _THROUGH = 8, 3
"""Units between a point and its label, and to a line that runs through the point."""


@dataclass(frozen=True)
class Box:
    """A rectangle of the drawing."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether the two have anything in common."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def holds(self, other: Box) -> bool:
        """Whether the other lies within."""
        across = self.left <= other.left and other.right <= self.right
        return across and self.top <= other.top and other.bottom <= self.bottom

    def joined(self, other: Box) -> Box:
        """What holds both."""
        return Box(
            min(self.left, other.left),
            min(self.top, other.top),
            max(self.right, other.right),
            max(self.bottom, other.bottom),
        )

    def meets_line(self, line: Sequence[Point]) -> bool:
        """Whether a line of several points, from left to right, runs through it."""
        return any(self.crossed(*ends) for ends in pairwise(line))

    def away(self, point: Point) -> float:
        """How far a point is from it."""
        x, y = point
        across = max(self.left - x, 0, x - self.right)
        return math.hypot(across, max(self.top - y, 0, y - self.bottom))

    def crossed(self, start: Point, end: Point) -> bool:
        """Whether a straight line runs through it, from left to right or straight up and down."""
        (x, y), (x_end, y_end) = start, end
        if x_end < self.left or x > self.right:
            return False
        slope = (y_end - y) / (x_end - x) if x_end > x else 0.0
        ys = (y, y_end)
        if x_end > x:
            ys = (
                y + slope * (max(x, self.left) - x),
                y + slope * (min(x_end, self.right) - x),
            )
        return min(ys) < self.bottom and max(ys) > self.top


@dataclass
class Room:
    """What is left of a frame beside lines, each from left to right, points, and labels."""

    frame: Box
    lines: Sequence[Sequence[Point]] = ()
    points: list[Point] = field(default_factory=list)
    taken: list[Box] = field(default_factory=list)

    def take(self, x: float, y: float, around: float) -> None:
        """Keep labels off a point."""
        self.points.append((x, y))
        self.taken.append(_around((x, y), around))

    def label(self, x: float, y: float, text: str) -> list[str]:
        """The text beside a point as SVG; nothing if there is no room for it."""
        for at, baseline, anchor in _places(x, y):
            box = written(at, baseline, text, anchor)
            if self._is_free(box, (x, y)) and self._is_nearest((x, y), box):
                self.taken.append(box)
                return [text_at(at, baseline, text, anchor)]
        return []

    def _is_nearest(self, own: Point, box: Box) -> bool:
        """Whether the label would not be taken for that of another point."""
        return all(box.away(own) <= box.away(point) for point in self.points)

    def _is_free(self, box: Box, own: Point) -> bool:
        """Whether nothing is in the box, nor a line between it and its point."""
        if not self.frame.holds(box) or any(map(box.meets, self.taken)):
            return False
        own_lines = [line for line in self.lines if _around(own, _THROUGH).meets_line(line)]
        between = box.joined(_around(own, 0))
        return not any(
            (box if line in own_lines else between).meets_line(line) for line in self.lines
        )


def _around(point: Point, size: float) -> Box:
    x, y = point
    return Box(x - size, y - size, x + size, y + size)


def text_at(x: float, y: float, text: str, anchor: str = "") -> str:
    """A text as SVG, by the class that says how it is anchored."""
    look = f' class="{anchor}"' if anchor else ""
    return f'<text x="{x:.5g}" y="{y:.5g}"{look}>{escape(text)}</text>'


def written(x: float, baseline: float, text: str, anchor: str) -> Box:
    """The room that a text takes, by the class that says how it is anchored."""
    width = _LETTER * len(text)
    left = x - {"": 0.0, "middle": 0.5, "end": 1.0}[anchor] * width
    return Box(left, baseline - _ASCENT, left + width, baseline + _DESCENT)


def rows(items: Iterable[tuple[float, str, str]]) -> Iterator[tuple[float, str, str, int]]:
    """Texts in as few rows as they have room in, the first as far up as may be: x, text, anchor."""
    ends: list[list[Box]] = []
    for x, text, anchor in items:
        box = written(x, 0, text, anchor)
        free = (row for row, boxes in enumerate(ends) if not any(map(box.meets, boxes)))
        row = next(free, len(ends))
        ends += [[]] if row == len(ends) else []
        ends[row].append(box)
        yield x, text, anchor, row


def _places(x: float, y: float) -> Iterator[tuple[float, float, str]]:
    """Places beside a point, the best ones first: x, baseline, anchor."""
    for distance in (_AWAY, 2 * _AWAY, 3 * _AWAY):
        above, below = y - distance, y + distance + _ASCENT - _DESCENT
        yield x + distance, above, ""
        yield x - distance, above, "end"
        yield x + distance, below, ""
        yield x - distance, below, "end"
        yield x, above - _DESCENT, "middle"
        yield x, below + _DESCENT, "middle"
        yield x + 2 * distance, y + _DESCENT, ""
        yield x - 2 * distance, y + _DESCENT, "end"
