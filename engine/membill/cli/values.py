"""Values given as text. Text is never run as code: it is a number, or a name that is looked up."""

from __future__ import annotations

import re
from fractions import Fraction

import sympy

from membill import symbols
from membill.errors import InputError, unknown

DIGITS = 30
"""Longest number taken: Python prints no int beyond some thousand digits, and powers add up."""

_DECIMAL = re.compile(r"[0-9]{1,30}(\.[0-9]{1,30})?")


def count(name: str, given: str, allowed: str = "an integer > 0") -> int:
    """A positive int; InputError for anything else."""
    if len(given) > DIGITS:
        raise InputError(f"{name} has {len(given)} digits: at most {DIGITS} are allowed")
    if not (given.isascii() and given.isdigit() and int(given) > 0):
        raise InputError(f"{name} = {given} is not allowed: {name} is {allowed}")
    return int(given)


def amount_or_symbol(name: str, given: str) -> int | sympy.Symbol:
    """As `symbol_or_count`, with large numbers also as 7.5e9, which must come out whole."""
    digits, _, power = given.lower().partition("e")
    if not (power and _DECIMAL.fullmatch(digits) and power.isascii() and power.isdigit()):
        return symbol_or_count(name, given)
    if len(power) > 2 or int(power) > DIGITS:
        raise InputError(f"{name} = {given}: at most {DIGITS} digits are allowed")
    amount = Fraction(digits) * 10 ** int(power)
    whole = str(amount) if amount.denominator == 1 else given
    return count(name, whole, "an integer > 0 or a symbol")


def symbol_or_count(name: str, given: str) -> int | sympy.Symbol:
    """The symbol of that name, or a positive int; InputError for anything else."""
    if not given.isidentifier():
        return count(name, given, "an integer > 0 or a symbol")
    known = {info.name: info.symbol for info in symbols.table()}
    if given not in known:
        raise unknown("symbol", given, known)
    return known[given]


def assignment(text: str) -> tuple[str, int]:
    """`d=4096`: the name of a symbol and a positive int; InputError for anything else."""
    name, equals, value = text.partition("=")
    if not equals:
        raise InputError(f"--set {text}: give NAME=VALUE, such as d=4096")
    if not symbols.is_defined(name):
        raise unknown("symbol", name, symbols.names())
    return name, count(name, value)
