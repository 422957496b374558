"""How sizes are written: GB is 10^9 bytes, GiB is 2^30, and the unit is always said."""

from __future__ import annotations

from fractions import Fraction

GB = 10**9
GIB = 2**30


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
    places = next((n for n in range(6) if abs(value) * 10**n >= 100), 6)
    return decimal(value, places)
