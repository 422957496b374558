"""Python, NumPy and JavaScript give the same exact numbers, or say that there is none."""

from typing import Any

import numpy
import pytest
import sympy
from expressions import LETTERS, as_formula, expressions, huge_values, polynomials, value_of, values
from hypothesis import example, given, settings
from hypothesis import strategies as st
from javascript import Node

from membill import InputError, symbols
from membill.formula import Formula
from membill.symbols import T, b, d, h

floor, ceiling, Max, Min = sympy.floor, sympy.ceiling, sympy.Max, sympy.Min
ONES = dict.fromkeys(map(str, LETTERS), 1)


def run_python(code: str, given: dict[str, int]) -> int:
    return int(eval(code, {"__builtins__": {"max": max, "min": min}}, dict(given)))


@settings(max_examples=150)
@given(expr=expressions, given_values=values)
@example(expr=floor(T / 49), given_values=ONES | {"T": 49})
@example(expr=2 * Max(T / 2, b), given_values=ONES | {"T": 3})
@example(expr=Max(T / 2, b), given_values=ONES | {"T": 3})
@example(expr=floor((T - 5) / 49), given_values=ONES)
@example(expr=ceiling((T - 5) / h), given_values=ONES | {"h": 2})
@example(expr=b - T**2 * d, given_values=ONES | {"T": 9})
@example(expr=floor(Max(T / 2, b / 3) / 5) - Min(T / h, d), given_values=ONES | {"T": 8, "h": 3})
def test_all_evaluations_agree_with_sympy(
    expr: sympy.Expr, given_values: dict[str, int], node: Node
) -> None:
    right = value_of(expr, given_values)
    formula = as_formula(expr)
    if not right.is_integer:
        with pytest.raises(InputError, match="is not a whole number at"):
            formula(**given_values)
        return
    assert formula(**given_values) == right
    assert type(formula(**given_values)) is int
    assert run_python(formula.python(), given_values) == right
    assert node.evaluate(formula.javascript(), given_values) == right
    arrays = {name: numpy.array([value, value]) for name, value in given_values.items()}
    assert numpy.broadcast_to(formula(**arrays), 2).tolist() == [right, right]


@settings(max_examples=50)
@given(expr=polynomials, given_values=huge_values)
def test_huge_values_never_wrap_around(
    expr: sympy.Expr, given_values: dict[str, int], node: Node
) -> None:
    right = int(value_of(expr, given_values))
    formula = as_formula(expr)
    assert formula(**given_values) == right
    assert run_python(formula.python(), given_values) == right
    assert node.evaluate(formula.javascript(), given_values) == right
    arrays = {name: numpy.array([value, 1], dtype=object) for name, value in given_values.items()}
    assert numpy.broadcast_to(formula(**arrays), 2).tolist()[0] == right


@given(st.integers(min_value=1, max_value=2**31 - 1))
def test_narrow_numpy_integers_are_widened(tokens: int) -> None:
    formula = Formula(T**3 * b, "bytes")
    result = formula(T=numpy.array([tokens], dtype=numpy.int32), b=numpy.int8(2))
    assert result.tolist() == [2 * tokens**3]
    assert result.dtype == (numpy.int64 if 2 * tokens**3 < 2**63 else object)


def test_arrays_broadcast() -> None:
    formula = Formula(T * b, "bytes")
    result = formula(T=numpy.array([[1], [2]]), b=numpy.array([10, 20, 30]))
    assert result.dtype == numpy.int64
    assert result.tolist() == [[10, 20, 30], [20, 40, 60]]


def test_one_array_element_that_is_not_whole_is_an_error() -> None:
    with pytest.raises(InputError, match="not a whole number"):
        Formula(T / h, "bytes")(T=numpy.array([6, 7]), h=2)


@pytest.mark.parametrize("tokens", [1, 48, 49, 50, 97, 98])
def test_floor_division_by_a_number_that_has_no_exact_inverse(tokens: int, node: Node) -> None:
    formula = Formula(floor(T / 49), "bytes")
    assert formula(T=tokens) == tokens // 49
    assert formula.python() == "(T//49)"
    assert node.evaluate(formula.javascript(), {"T": tokens}) == tokens // 49


def test_a_sum_of_quotients_is_whole_if_the_sum_is() -> None:
    assert Formula(T / 2 + b / 2, "bytes")(T=3, b=5) == 4


def test_extremes_broadcast_over_arrays() -> None:
    formula = Formula(Max(T, b) - Min(T, b), "bytes")
    assert formula(T=numpy.array([1, 5, 9]), b=5).tolist() == [4, 0, 4]


def test_putting_values_in_first_gives_the_same() -> None:
    formula = Formula(34 * T * b * d + 5 * h * T**2 * b, "bytes")
    assert str(formula.subs({T: 2048, h: 96})(b=1, d=12288)) == str(
        formula(b=1, d=12288, T=2048, h=96)
    )


def test_substitution_is_simultaneous() -> None:
    assert Formula(T * b**2, "bytes").subs({T: b, b: T}).expr == b * T**2


def test_every_letter_can_be_evaluated() -> None:
    for name in symbols.names():
        value: Any = Formula(3 * symbols.table()[symbols.names().index(name)].symbol, "bytes")
        assert value(**{name: 7}) == 21
