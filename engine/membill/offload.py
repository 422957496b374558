"""Offload: what is moved off the device and back each step, and how long a link takes at least."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from membill.formula import Formula


@dataclass(frozen=True)
class Movement:
    """A kind of offload: how often a step moves each of its bytes out and in.

    what: the kind of bytes that it takes off the device: "activations", or a kind of state.
    """

    name: str
    what: str
    out: int
    into: int
    summary: str
    source: str


@dataclass(frozen=True)
class Link:
    """A connection to host memory or a disk: bytes a second in each direction."""

    name: str
    title: str
    bytes_per_second: int
    source: str


@dataclass(frozen=True)
class Traffic:
    """Bytes that a step moves out of the device and into it."""

    out: Formula
    into: Formula

    def seconds(self, link: Link, **values: int) -> Fraction:
        """The least time on a link that moves both ways at once; exact."""
        most = max(self.out(**values), self.into(**values))
        return Fraction(most, link.bytes_per_second)


def traffic(movement: Movement, held: Formula) -> Traffic:
    """The traffic of a movement for the bytes that would otherwise be held on the device."""
    return Traffic(held * movement.out, held * movement.into)
