"""A state: what a recipe keeps for a weight, and how many bytes that takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import sympy

from membill.algebra import ceiling
from membill.dtypes import DType
from membill.symbols import beta
from membill.tensor import product


@dataclass(frozen=True)
class Constants:
    """The constants of a quantised state: one of this dtype for each block of parameters."""

    block: int
    dtype: DType


@dataclass(frozen=True)
class Small:
    """Weights of fewer entries than these are kept in this dtype, without constants."""

    entries: int
    dtype: DType


@dataclass(frozen=True)
class Weight:
    """A parameter tensor as a recipe sees it: `stack` matrices of `rows` by `columns`.

    label: its name in the layer. A vector has one row and is no matrix. hidden: whether it is a
    layer's, not the embedding's or the head's. trainable: whether it takes a gradient. groups: how
    many groups its columns fall into, such as heads.
    """

    label: str
    rows: sympy.Expr
    columns: sympy.Expr
    stack: sympy.Expr = field(default=sympy.Integer(1))
    matrix: bool = True
    hidden: bool = True
    trainable: bool = True
    groups: sympy.Expr = field(default=sympy.Integer(1))

    @property
    def entries(self) -> sympy.Expr:
        """How many parameters it has."""
        return product((self.stack, self.rows, self.columns))


Numbers = Callable[[Weight], sympy.Expr]
"""How many numbers a state keeps for a weight."""


@dataclass(frozen=True)
class State:
    """What is kept for the parameters: one number for each, unless `of` says otherwise.

    kind: what it is to a partitioning ("weights", "gradients", "master", "moments").
    constants: what is kept besides for each block of numbers, if the state is quantised.
    small: what is done with small weights instead, if anything.
    """

    name: str
    kind: str
    dtype: DType
    constants: tuple[Constants, ...] = ()
    of: Numbers | None = None
    small: Small | None = None

    def bytes(self, numbers: sympy.Expr) -> sympy.Expr:
        """Bytes for so many numbers, block constants included; a number fills whole bytes."""
        own = numbers * self.dtype.bytes
        blocks = (ceiling(numbers / each.block) * each.dtype.bytes for each in self.constants)
        return sympy.Add(ceiling(own) if own.is_Rational else own, *blocks)

    def numbers(self, weight: Weight) -> sympy.Expr:
        """How many numbers are kept for a weight."""
        return weight.entries if self.of is None else self.of(weight)

    @property
    def bits(self) -> sympy.Rational:
        """Bits a number, constants included, at two bytes for the compute dtype."""
        own = self.dtype.bytes.subs(beta, 2)
        shared = (each.dtype.bytes / each.block for each in self.constants)
        return 8 * sympy.Add(own, *shared)
