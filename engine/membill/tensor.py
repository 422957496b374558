"""A tensor as far as memory is concerned: shape, dtype, role, and whose storage it is."""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache

import sympy

from membill import symbols
from membill.dtypes import COMPUTE, DType
from membill.errors import InputError

current_path: ContextVar[str] = ContextVar("current_path", default="")


class Role(Enum):
    """What a tensor is for. Decides in which account its bytes go, never how many they are."""

    ACTIVATION = "activation"
    MASK = "mask"
    INDEX = "index"
    STATISTIC = "statistic"
    BOOKKEEPING = "bookkeeping"
    TABLE = "table"
    WEIGHT = "weight"
    BUFFER = "buffer"


@dataclass(frozen=True, eq=False, slots=True)
class Tensor:
    """A symbolic tensor; two are the same only if they are the same object.

    shape: the axes, positive integers or expressions over `membill.symbols`.
    name: what it is to the op that makes it ("output", "mask", "mean").
    leading_axes: how many axes come before the features (2 for batch and tokens).
    base: the tensor whose storage this one is a view of, or None if it owns its storage.
    stacked: of a weight, how many leading axes number matrices of their own (experts).
    path: the op that makes it ("attention.core.softmax"), empty for an input of the layer.
    """

    shape: tuple[sympy.Expr, ...]
    dtype: DType = COMPUTE
    role: Role = Role.ACTIVATION
    name: str = "output"
    leading_axes: int = 2
    base: Tensor | None = None
    path: str = field(default_factory=current_path.get)
    stacked: int = 0

    @property
    def label(self) -> str:
        """Its unique name in the layer: the op's path, and the name unless it is the output."""
        return ".".join(filter(None, (self.path, "" if self.name == "output" else self.name)))

    @property
    def leading(self) -> tuple[sympy.Expr, ...]:
        """The axes that index tokens: (b, T) of (b, T, h, d_k)."""
        return self.shape[: self.leading_axes]

    @property
    def features(self) -> tuple[sympy.Expr, ...]:
        """The axes that index one token's entries: (h, d_k) of (b, T, h, d_k)."""
        return self.shape[self.leading_axes :]

    @property
    def storage(self) -> Tensor:
        """The tensor that owns the memory: itself, unless this is a view."""
        return self if self.base is None else self.base.storage

    @property
    def entries(self) -> sympy.Expr:
        """How many numbers it holds."""
        return product(self.shape)

    @property
    def bytes(self) -> sympy.Expr:
        """Entries times the width of the dtype."""
        return sympy.Mul(*self.shape, self.dtype.bytes)

    def like(
        self,
        name: str = "output",
        *,
        shape: Iterable[object] | None = None,
        dtype: DType | None = None,
        role: Role | None = None,
        leading_axes: int | None = None,
    ) -> Tensor:
        """A new tensor with a storage of its own, equal to this one in all that is not given."""
        return Tensor(
            self.shape if shape is None else dims(shape),
            self.dtype if dtype is None else dtype,
            self.role if role is None else role,
            name,
            self.leading_axes if leading_axes is None else leading_axes,
        )

    def view(self, *shape: object, name: str = "output", leading_axes: int | None = None) -> Tensor:
        """The same storage under another shape (by default the same): costs no memory."""
        new = dims(shape) if shape else self.shape
        leading = self.leading_axes if leading_axes is None else leading_axes
        return Tensor(new, self.dtype, self.role, name, leading, base=self)


def dims(shape: Iterable[object]) -> tuple[sympy.Expr, ...]:
    """Check axes: positive ints or exact expressions over Membill's symbols, else InputError."""
    return tuple(_dim(axis) for axis in shape)


def _dim(axis: object) -> sympy.Expr:
    size = exact(axis, "axis")
    if not size.is_Symbol and (size.is_integer is False or size.is_positive is False):
        raise InputError(f"axis {axis} is not a positive integer")
    return size


def exact(value: object, what: str) -> sympy.Expr:
    """`value` as an exact expression: an int, or a SymPy expression over Membill's symbols.

    Raises InputError for anything else. A string is not parsed, 34.0*T is not 34*T, and
    sympy.Symbol("T") is not T.
    """
    if isinstance(value, bool) or not isinstance(value, (int, sympy.Expr)):
        raise InputError(
            f"{what} {value!r} is a {type(value).__name__}; give an integer or an expression "
            "over membill.symbols"
        )
    expr = sympy.Integer(value) if isinstance(value, int) else value
    if not _is_exact(expr):
        raise InputError(f"{what} {expr} holds a float; write it with integers")
    return expr


@lru_cache(maxsize=1 << 14)
def _is_exact(expr: sympy.Expr) -> bool:
    """Whether no float is in it; InputError for a symbol that is not Membill's."""
    if expr.has(sympy.Float):
        return False
    for symbol in expr.free_symbols:
        symbols.info(symbol)
    return True


def count(value: object, name: str, noun: str) -> sympy.Expr:
    """`value` as a whole number > 0 or a symbol that stands for one; else InputError.

    name: the argument that it was given for. noun: what such an argument is, "a degree".
    """
    try:
        found = exact(value, name)
    except InputError:
        if isinstance(value, sympy.Symbol):
            raise
        found = None
    if found is None or found.is_integer is False or found.is_positive is False:
        raise InputError(f"{name} = {value!r}: give {noun}, an integer > 0, or a symbol")
    return found


@lru_cache(maxsize=4096)
def product(axes: tuple[sympy.Expr, ...]) -> sympy.Expr:
    """The product of axes, 1 for none."""
    return sympy.Mul(*axes)


def said(value: object) -> str:
    """A value for a message: a tensor by its label, a collection by its kind."""
    if isinstance(value, Tensor):
        return f"the tensor {value.label}"
    collection = isinstance(value, (list, tuple, dict, set))
    return f"a {type(value).__name__}" if collection else repr(value)
