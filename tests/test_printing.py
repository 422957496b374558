"""Formulas keep the order in which the field writes them, whatever is done to them."""

import subprocess
import sys

import pytest
import sympy
from expressions import LETTERS, as_formula, polynomials
from hypothesis import given, settings
from hypothesis import strategies as st

import membill
from membill import InputError, algebra, printer, symbols
from membill.formula import Formula
from membill.symbols import L, T, V, b, beta, d, d_ff, d_k, h, n_kv, t

GPT = 34 * T * b * d + 5 * h * T**2 * b


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (GPT, "34Tbd + 5hT²b"),
        (GPT * L, "34LTbd + 5LhT²b"),
        ((T * b * (34 * d + 5 * h * T)).expand(), "34Tbd + 5hT²b"),
        (GPT.subs(d, 4 * d), "136Tbd + 5hT²b"),
        (GPT.subs(b, 1), "34Td + 5hT²"),
        (sympy.collect(GPT, T), "34Tbd + 5hT²b"),
        (10 * T * b * d + 24 * T * b * d / t, "10Tbd + 24Tbd/t"),
        (4 * T * b * n_kv * d_k, "4Tb·n_kv·d_k"),
        (4 * T * b * n_kv * d / h, "4Tb·n_kv·d/h"),
        (4 * h * T * b + 8 * T * b * d_ff + 8 * T * b, "4hTb + 8Tb·d_ff + 8Tb"),
        (12 * d**2 + 13 * d, "12d² + 13d"),
        (4 * T * b * V, "4TbV"),
        (beta * T * b * d, "βTbd"),
        (T / 2, "T/2"),
        (T * b / (h * t), "Tb/(ht)"),
        (1 / (T + 1), "1/(T + 1)"),
        (b - T, "b - T"),
        (sympy.Integer(0), "0"),
        (3 * sympy.floor(T / 49), "3·⌊T/49⌋"),
        (sympy.Max(T, 2 * b), "max(T, 2b)"),
    ],
)
def test_text(expr: sympy.Expr, text: str) -> None:
    assert printer.text(expr) == text


@pytest.mark.parametrize(
    ("expr", "latex"),
    [
        (GPT, "34 T b d + 5 h T^{2} b"),
        (4 * T * b * n_kv * d / h, r"\frac{4 T b \, n_{\mathrm{kv}} \, d}{h}"),
        (4 * T * b * d_k, r"4 T b \, d_k"),
        (beta * sympy.ceiling(T / 2), r"\beta \left\lceil \frac{T}{2} \right\rceil"),
    ],
)
def test_latex(expr: sympy.Expr, latex: str) -> None:
    assert printer.latex(expr) == latex


@pytest.mark.parametrize(
    ("expr", "python", "javascript"),
    [
        (GPT, "34*T*b*d + 5*h*T**2*b", "34n*T*b*d + 5n*h*T**2n*b"),
        (T * b / h + d, "d + T*b//h", "d + T*b/h"),
        (T / 2 + b / 3, "(3*T + 2*b)//6", "(3n*T + 2n*b)/6n"),
        (sympy.ceiling(T / t), "((T + t - 1)//t)", "((T + t - 1n)/t)"),
        (sympy.Max(T / 2, b), "(max(T, 2*b))//2", "((T > 2n*b ? T : 2n*b))/2n"),
        (b - T**2, "b - 1*T**2", "b - 1n*T**2n"),
    ],
)
def test_code(expr: sympy.Expr, python: str, javascript: str) -> None:
    assert printer.python(expr) == python
    assert printer.javascript(expr) == javascript


@settings(max_examples=60)
@given(polynomials, st.permutations(LETTERS))
def test_text_does_not_depend_on_the_order_of_building(
    expr: sympy.Expr, order: list[sympy.Symbol]
) -> None:
    terms = list(sympy.Add.make_args(sympy.expand(expr)))
    again = sympy.Add(*sorted(terms, key=lambda term: [order.index(x) for x in term.free_symbols]))
    for write in (printer.text, printer.latex, printer.python, printer.javascript):
        assert write(again) == write(expr)


@settings(max_examples=60)
@given(polynomials)
def test_the_order_of_terms_survives_a_common_factor(expr: sympy.Expr) -> None:
    monomials = [term / L for term in printer.terms(sympy.expand(expr * L))]
    assert monomials == printer.terms(expr) or expr == 0


@settings(max_examples=60)
@given(polynomials)
def test_printed_python_is_the_formula_again(expr: sympy.Expr) -> None:
    names = {str(letter): letter for letter in LETTERS}
    again = eval(as_formula(expr).python(), {"__builtins__": {}}, names)
    assert sympy.expand(again - expr) == 0


SCRIPT = """
import sympy
{first}
import membill
from membill import golden, symbols
from membill.formula import Formula
zeta, alpha = {define}
print(Formula(zeta * symbols.b + alpha * symbols.b + alpha * zeta, "bytes"))
for name in ("gpt", "llama"):
    layer = membill.layer(name)
    print(golden.golden_text(layer), layer.activations().latex(), layer.activations().python())
"""
ORDERS = (
    {"first": "", "define": "symbols.define('zeta', 'z'), symbols.define('alpha', 'a')"},
    {
        "first": "d, b, T = sympy.symbols('d b T', positive=True, integer=True); d*T*b + b*d",
        "define": "(symbols.define('alpha', 'a'), symbols.define('zeta', 'z'))[::-1]",
    },
)


def test_text_does_not_depend_on_hash_seed_or_order_of_definition() -> None:
    seen = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT.format(**order)],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed, order in zip("17", ORDERS, strict=True)
    }
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("expr", "message"),
    [
        (sympy.sqrt(T), "no way to write T to the power 1/2 in a formula"),
        (sympy.log(T), "no way to write log(T) (log) in a formula"),
        (sympy.Integer(2) ** T, "no way to write 2 to the power T in a formula"),
    ],
)
def test_what_cannot_be_written_is_an_error(expr: sympy.Expr, message: str) -> None:
    with pytest.raises(InputError) as caught:
        printer.text(expr)
    assert str(caught.value) == message


def test_a_formula_is_compared_by_what_it_says() -> None:
    formula = membill.layer("gpt").activations(statistics=False)
    assert formula == membill.layer("gpt").activations(statistics=False)
    assert formula.unit == "bytes"
    assert formula.expr == GPT
    assert formula != Formula(GPT, "parameters")
    assert str(formula * L) == "34LTbd + 5LhT²b" == str(L * formula)
    assert symbols.info(L).meaning == "layers"


def test_a_denominator_that_is_a_sum_comes_to_an_end() -> None:
    expr = T / (d * (b + 1)) + h / (d * b)
    above, below = algebra.fraction(expr)
    assert sympy.simplify(above / below - expr) == 0
    assert eval(printer.python(expr), {"T": 36, "d": 2, "b": 2, "h": 8}) == 36 // 6 + 8 // 4
