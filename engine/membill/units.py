"""How sizes are written: GB is 10^9 bytes, GiB is 2^30, and the unit is always said."""

from __future__ import annotations

import re
from fractions import Fraction

from membill.errors import InputError

GB = 10**9
GIB = 2**30

UNITS = {
    "B": 1,
    **{f"{prefix}B": 1000**power for power, prefix in enumerate("kMGT", 1)},
    **{f"{prefix}iB": 1024**power for power, prefix in enumerate("KMGT", 1)},
}
"""Bytes of each unit in which a size can be given."""

_SIZE = re.compile(r"([0-9]{1,30}(?:\.[0-9]{1,30})?) ?([A-Za-z]*)")


def size(text: object, name: str) -> int:
    """A size such as "80GB", "79.5 GiB" or "512 MiB" in bytes.

    name: the argument that it was given for. Raises InputError for anything else, for a number
    without a unit, and for a size that is not a whole number of bytes or not above 0.
    """
    found = _SIZE.fullmatch(text) if isinstance(text, str) and text.isascii() else None
    if found is None:
        raise InputError(f"{name} = {text!r}: give a number and a unit, such as 80GB or 80GiB")
    number, unit = found.groups()
    if not unit:
        raise InputError(
            f"{name} = {text!r} has no unit: give {number}GB (10^9 bytes) or {number}GiB (2^30)"
        )
    if unit not in UNITS:
        raise InputError(f"{name} = {text!r}: {unit} is no unit; known are {', '.join(UNITS)}")
    total = Fraction(number) * UNITS[unit]
    if total <= 0 or total.denominator != 1:
        raise InputError(f"{name} = {text!r} is {total} bytes: give a whole number > 0")
    return int(total)


def decimal(value: Fraction | int, places: int) -> str:
    """A fraction rounded half up to `places` digits, from exact arithmetic: never a float."""
    scaled = Fraction(value) * 10**places
    whole = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    digits = f"{abs(whole):0{places + 1}d}"
    sign = "-" if whole < 0 else ""
    head = f"{int(digits[: len(digits) - places]):,}"
    return sign + (f"{head}.{digits[-places:]}" if places else head)


def gb(size: int) -> str:
    """`5.76 GB`, three significant digits at least."""
    return f"{_significant(Fraction(size, GB))} GB"


def gib(size: int) -> str:
    """`5.36 GiB`, three significant digits at least."""
    return f"{_significant(Fraction(size, GIB))} GiB"


def exact(size: int) -> str:
    """`5,758,000,000 B`."""
    return f"{size:,} B"


def percent(part: Fraction | int, whole: Fraction | int = 1, places: int = 0) -> str:
    """`70%`."""
    return f"{decimal(Fraction(part) / Fraction(whole) * 100, places)}%"


def _significant(value: Fraction) -> str:
    above, below = abs(value.numerator), value.denominator
    places = next((n for n in range(6) if above * 10**n >= 100 * below), 6)
    return decimal(value, places)
