"""Spacing of formats, and the updates that they lose."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from membill.errors import InputError
from membill.spacing import BFLOAT16, FLOAT16, FLOAT32, FORMATS, Binary

WEIGHTS = st.fractions(min_value=Fraction(1, 1000), max_value=1000)


def test_spacing_around_one() -> None:
    assert BFLOAT16.spacing() == Fraction(1, 128)
    assert FLOAT16.spacing() == Fraction(1, 1024)
    assert FLOAT32.spacing() == Fraction(1, 2**23)
    assert BFLOAT16.spacing(Fraction(127, 128)) == Fraction(1, 256)
    assert BFLOAT16.spacing(2) == Fraction(1, 64)


def test_an_update_of_the_size_of_a_learning_rate_is_lost() -> None:
    rate = Fraction(1, 10_000)
    assert BFLOAT16.added(1, rate) == 1
    assert BFLOAT16.added(1, -rate) == 1
    assert FLOAT32.added(1, rate) > 1
    assert BFLOAT16.steps(1, rate) == 40


def test_half_a_spacing_goes_to_the_even_neighbour() -> None:
    half = BFLOAT16.threshold(1)
    odd = 1 + 2 * half
    assert BFLOAT16.added(1, half) == 1
    assert BFLOAT16.added(odd, half) == 1 + 4 * half
    assert (BFLOAT16.steps(1, half), BFLOAT16.steps(odd, half)) == (2, 1)


@pytest.mark.parametrize("binary", FORMATS, ids=lambda each: each.name)
@given(weight=WEIGHTS, part=st.fractions(min_value=Fraction(1, 50), max_value=4))
def test_the_threshold_tells_what_is_lost(binary: Binary, weight: Fraction, part: Fraction) -> None:
    own = binary.rounded(weight)
    update = part * binary.threshold(own)
    if part != 1:
        assert (binary.added(own, update) == own) is (part < 1)
    steps = binary.steps(own, update)
    assert binary.added(own, steps * update) != own
    assert steps == 1 or binary.added(own, (steps - 1) * update) == own


@pytest.mark.parametrize("bad", [0, -1, 0.5, True])
def test_only_exact_positive_numbers(bad: object) -> None:
    with pytest.raises(InputError, match="give an int or a Fraction > 0"):
        BFLOAT16.spacing(bad)
