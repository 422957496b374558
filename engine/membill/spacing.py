"""How far apart the numbers of a binary floating-point format lie, and which updates they lose."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from membill.errors import InputError


@dataclass(frozen=True)
class Binary:
    """A binary floating-point format: so many bits of a number's fraction are stored.

    Exponents have no end here, and there are no subnormal numbers.
    """

    name: str
    fraction_bits: int

    def spacing(self, at: Fraction | int = 1) -> Fraction:
        """The distance from `at` > 0 to the next larger number of the format.

        Raises InputError for a number that is not positive.
        """
        return Fraction(2) ** (_exponent(_positive(at)) - self.fraction_bits)

    def rounded(self, value: Fraction | int) -> Fraction:
        """The nearest number of the format; of two that are equally near, the even one.

        Raises InputError for a number that is not positive.
        """
        step = self.spacing(value)
        return round(Fraction(value) / step) * step

    def added(self, weight: Fraction | int, update: Fraction | int) -> Fraction:
        """The sum of a weight and an update, rounded to the format."""
        return self.rounded(Fraction(weight) + Fraction(update))

    def threshold(self, weight: Fraction | int = 1) -> Fraction:
        """Half a spacing: a smaller update upward is lost, a larger one moves the weight."""
        return self.spacing(weight) / 2

    def steps(self, weight: Fraction | int, update: Fraction | int) -> int:
        """After how many equal updates upward, summed exactly, a weight of the format changes."""
        start, by = self.rounded(weight), _positive(update)
        number = int(self.threshold(start) // by)
        return number if number and self.added(start, number * by) != start else number + 1


BFLOAT16, FLOAT16, FLOAT32 = Binary("bfloat16", 7), Binary("float16", 10), Binary("float32", 23)
FORMATS = (BFLOAT16, FLOAT16, FLOAT32)


def _positive(value: Fraction | int) -> Fraction:
    if isinstance(value, (float, bool)) or not value > 0:
        raise InputError(f"{value!r} is not allowed: give an int or a Fraction > 0")
    return Fraction(value)


def _exponent(value: Fraction) -> int:
    """The power of two at or below a positive number."""
    power = value.numerator.bit_length() - value.denominator.bit_length()
    return power if Fraction(2) ** power <= value else power - 1
