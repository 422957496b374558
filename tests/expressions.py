"""Hypothesis strategies: exact expressions over Membill's symbols, and values for them."""

import sympy
from hypothesis import strategies as st

from membill import symbols
from membill.formula import Formula

LETTERS = (symbols.b, symbols.T, symbols.d, symbols.h, symbols.n_kv, symbols.d_k)

small = st.integers(min_value=1, max_value=50)
huge = st.integers(min_value=2**40, max_value=2**70)
values = st.fixed_dictionaries({str(letter): small for letter in LETTERS})
huge_values = st.fixed_dictionaries({str(letter): huge for letter in LETTERS})

monomials = st.builds(
    lambda number, letters: sympy.Mul(number, *letters),
    st.integers(min_value=-9, max_value=40).filter(bool),
    st.lists(st.sampled_from(LETTERS), max_size=4),
)
polynomials = st.builds(lambda terms: sympy.Add(*terms), st.lists(monomials, max_size=4))
divisors = st.one_of(
    small.map(sympy.Integer),
    st.sampled_from(LETTERS),
    st.builds(lambda letter, number: letter + number, st.sampled_from(LETTERS), small),
)
quotients = st.builds(lambda above, below: above / below, polynomials, divisors)


def _rounded(inner: st.SearchStrategy[sympy.Expr]) -> st.SearchStrategy[sympy.Expr]:
    functions = st.sampled_from([sympy.floor, sympy.ceiling])
    return st.builds(lambda f, above, below: f(above / below), functions, inner, divisors)


def _extreme(inner: st.SearchStrategy[sympy.Expr]) -> st.SearchStrategy[sympy.Expr]:
    return st.builds(lambda f, x, y: f(x, y), st.sampled_from([sympy.Max, sympy.Min]), inner, inner)


expressions = st.recursive(
    polynomials | quotients,
    lambda inner: st.one_of(
        _rounded(inner),
        _extreme(inner),
        st.builds(lambda x, y: x + y, inner, inner),
        st.builds(lambda x, y: x * y, inner, monomials),
    ),
    max_leaves=4,
)


def value_of(expr: sympy.Expr, values: dict[str, int]) -> sympy.Rational:
    """The exact value by SymPy alone, without any printed code."""
    return sympy.sympify(expr).xreplace(
        {letter: sympy.Integer(values[str(letter)]) for letter in LETTERS}
    )


def as_formula(expr: sympy.Expr) -> Formula:
    return Formula(expr, "bytes")
