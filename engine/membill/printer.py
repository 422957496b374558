"""Formulas in the order in which the field writes them: `34Tbd + 5hT²b`.

SymPy sorts by its own rules (`5*T**2*b*h + 34*T*b*d`) and has no option for another. Here each
symbol has a rank within a product and one within a sum (see symbols.py), and one walk over the
expanded expression serves text, LaTeX, Python and JavaScript, which differ in a `Style` only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import pairwise

import sympy

from membill import algebra, symbols
from membill.algebra import Factor
from membill.errors import InputError

_SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


@dataclass(frozen=True, eq=False)
class Style:
    """How one notation writes numbers, powers, products, quotients and functions.

    In an `integer` notation, source code that is run, a quotient is integer division. So terms
    that are not whole by themselves are brought over one denominator first, and `floor` and
    `ceiling` are written as the division that they stand for: SymPy's own code printers turn
    floor(T/49) into floor((1/49)*T), which at T = 49 gives 0.
    """

    number: Callable[[int], str]
    symbol: Callable[[sympy.Symbol], str]
    power: Callable[[str, int], str]
    product: Callable[[Sequence[str]], str]
    quotient: Callable[[str, str], str]
    floor: Callable[[str, str], str]
    functions: dict[str, Callable[..., str]]
    integer: bool


@lru_cache(maxsize=4096)
def text(expr: sympy.Expr) -> str:
    """Plain text: `34Tbd + 5hT²b`."""
    return _sum(expr, _TEXT)


@lru_cache(maxsize=4096)
def latex(expr: sympy.Expr) -> str:
    """LaTeX: `34Tbd + 5hT^{2}b`."""
    return _sum(expr, _LATEX)


@lru_cache(maxsize=4096)
def python(expr: sympy.Expr) -> str:
    """Python source over exact ints: `34*T*b*d + 5*h*T**2*b`, quotients with `//`."""
    return _sum(algebra.over_one_denominator(expr), _PYTHON)


def javascript(expr: sympy.Expr) -> str:
    """JavaScript source over BigInt: `34n*T*b*d + 5n*h*T**2n*b`, quotients exact."""
    return _sum(algebra.over_one_denominator(expr), _JAVASCRIPT)


def terms(expr: sympy.Expr) -> list[sympy.Expr]:
    """The terms of the expanded expression in the order in which they are written.

    What is taken away comes last: `p - i`.
    """
    names = symbols.names()
    found = sorted(
        sympy.Add.make_args(algebra.expanded(expr)), key=lambda term: _term_key(term, names)
    )
    return sorted(found, key=lambda term: algebra.factors(term)[0].p < 0)


def _sum(expr: sympy.Expr, style: Style) -> str:
    ordered = terms(expr)
    if style.integer:
        whole = [term for term in ordered if algebra.is_whole(term)]
        split = sympy.Add(*(term for term in ordered if not algebra.is_whole(term)))
        ordered = [*whole, *([] if split == 0 else [split])]
    written = [_term(term, style) for term in ordered]
    return " + ".join(written).replace("+ -", "- ")


@lru_cache(maxsize=1 << 14)
def _term(term: sympy.Expr, style: Style) -> str:
    if style.integer and not algebra.is_whole(term):
        above, below = algebra.quotient(term)
        if below != 1:
            return style.quotient(_sum(above, style), _sum(below, style))
    number, others = algebra.factors(term)
    factors = _ordered(others)
    above = _product(abs(number.p), [f for f in factors if f[1] > 0], style)
    below = _product(number.q, [(x, -power) for x, power in factors if power < 0], style)
    quotient = above if below == style.number(1) else style.quotient(above, below)
    if number == -1 and factors and style.integer:  # JavaScript has no -T**2
        return f"-{style.product([style.number(1), quotient])}"
    return f"-{quotient}" if number < 0 else quotient


def _product(number: int, factors: list[Factor], style: Style) -> str:
    bases = {base for base, _ in factors}
    parts: list[str] = []
    beside = False
    for base, power in factors:
        part = style.power(_atom(base, style), power)
        parts = [*parts[:-1], style.product([parts[-1], part])] if beside else [*parts, part]
        beside = isinstance(base, sympy.Symbol) and symbols.info(base).width in bases
    if number != 1 or not parts:
        parts.insert(0, style.number(number))
    return style.product(parts)


def _atom(base: sympy.Expr, style: Style) -> str:
    if isinstance(base, sympy.Symbol):
        return style.symbol(base)
    name = type(base).__name__
    if style.integer and name in ("floor", "ceiling"):
        above, below = sympy.fraction(sympy.together(base.args[0]))
        above = above + (below - 1 if name == "ceiling" else 0)
        rounded = style.quotient if algebra.never_negative(above) else style.floor
        return f"({rounded(_sum(above, style), _sum(below, style))})"
    if name in style.functions:
        return style.functions[name](*(_sum(arg, style) for arg in base.args))
    if isinstance(base, sympy.Add):
        return f"({_sum(base, style)})"
    raise InputError(f"no way to write {base} ({name}) in a formula")


def _ordered(factors: tuple[Factor, ...]) -> list[Factor]:
    """Factors in the order in which they are written."""
    bases = {base for base, _ in factors}
    return sorted(factors, key=lambda factor: _factor_rank(factor[0], bases))


def _factor_rank(base: sympy.Expr, beside: set[sympy.Expr]) -> tuple[float, str]:
    if not isinstance(base, sympy.Symbol):
        return 99, str(base)
    known = symbols.info(base)
    if known.width in beside:
        return symbols.info(known.width).factor_rank - 0.5, base.name
    return known.factor_rank, base.name


@lru_cache(maxsize=1 << 14)
def _term_key(term: sympy.Expr, names: tuple[str, ...]) -> tuple[tuple[int, ...], str]:
    """Sorts terms: the symbol of lowest term rank decides, the higher power of it first."""
    powers = dict(algebra.factors(term)[1])
    known = all(isinstance(base, sympy.Symbol) for base in powers)
    ranks = tuple(-powers.get(symbol, 0) for symbol in _ranked(names))
    return ranks, "" if known else str(term)


@lru_cache(maxsize=64)
def _ranked(names: tuple[str, ...]) -> tuple[sympy.Symbol, ...]:
    """The symbols of these names by their rank within a sum."""
    every = sorted(map(symbols.named, names), key=lambda info: (info.term_rank, info.name))
    return tuple(info.symbol for info in every)


def _juxtapose(parts: Sequence[str]) -> str:
    """`34Tbd`, with a dot beside any factor of several letters: `4Tb·n_kv·d`."""
    out = parts[0]
    for left, right in pairwise(parts):
        tight = _is_letter(right) and (_is_letter(left) or left.isdigit())
        out += right if tight else f"·{right}"
    return out


def _is_letter(part: str) -> bool:
    return len(part.rstrip("⁰¹²³⁴⁵⁶⁷⁸⁹")) == 1 and not part[0].isdigit()


def _latex_product(parts: Sequence[str]) -> str:
    out = parts[0]
    for left, right in pairwise(parts):
        out += (r" \, " if "_" in left + right else " ") + right
    return out


def _divided(sign: str) -> Callable[[str, str], str]:
    def quotient(above: str, below: str) -> str:
        left = f"({above})" if " " in above else above
        right = f"({below})" if any(mark in below for mark in " */") else below
        return f"{left}{sign}{right}"

    return quotient


def _text_quotient(above: str, below: str) -> str:
    name = below.isidentifier() and "·" not in below  # to Python the dot is part of a name
    one = below.isdigit() or _is_letter(below) or ("_" in below and name)
    whole = one or below.startswith("(")
    return f"{above}/{below if whole else f'({below})'}"


def _rounded_down(above: str, below: str) -> str:
    """JavaScript's division rounds towards zero, so the remainder, made positive, goes first."""
    return f"(({above}) - (({above})%({below}) + ({below}))%({below}))/({below})"


def _call(name: str) -> Callable[..., str]:
    return lambda *args: f"{name}({', '.join(args)})"


def _choose(sign: str) -> Callable[..., str]:
    """JavaScript's Math.max and Math.min refuse BigInt."""
    return lambda *args: reduce(lambda x, y: f"({x} {sign} {y} ? {x} : {y})", args)


_TEXT = Style(
    number=str,
    symbol=lambda symbol: "β" if symbol == symbols.beta else str(symbol.name),
    power=lambda base, power: base if power == 1 else base + str(power).translate(_SUPERSCRIPT),
    product=_juxtapose,
    quotient=_text_quotient,
    floor=_text_quotient,
    functions={
        "Max": _call("max"),
        "Min": _call("min"),
        "floor": lambda arg: f"⌊{arg}⌋",
        "ceiling": lambda arg: f"⌈{arg}⌉",
    },
    integer=False,
)

_LATEX = Style(
    number=str,
    symbol=lambda symbol: symbols.info(symbol).latex,
    power=lambda base, power: base if power == 1 else f"{base}^{{{power}}}",
    product=_latex_product,
    quotient=lambda above, below: rf"\frac{{{above}}}{{{below}}}",
    floor=lambda above, below: rf"\frac{{{above}}}{{{below}}}",
    functions={
        "Max": lambda *args: rf"\max\left({', '.join(args)}\right)",
        "Min": lambda *args: rf"\min\left({', '.join(args)}\right)",
        "floor": lambda arg: rf"\left\lfloor {arg} \right\rfloor",
        "ceiling": lambda arg: rf"\left\lceil {arg} \right\rceil",
    },
    integer=False,
)

_PYTHON = Style(
    number=str,
    symbol=lambda symbol: str(symbol.name),
    power=lambda base, power: base if power == 1 else f"{base}**{power}",
    product="*".join,
    quotient=_divided("//"),
    floor=_divided("//"),
    functions={"Max": _call("max"), "Min": _call("min")},
    integer=True,
)

_JAVASCRIPT = Style(
    number=lambda number: f"{number}n",
    symbol=lambda symbol: str(symbol.name),
    power=lambda base, power: base if power == 1 else f"{base}**{power}n",
    product="*".join,
    quotient=_divided("/"),
    floor=_rounded_down,
    functions={"Max": _choose(">"), "Min": _choose("<")},
    integer=True,
)
