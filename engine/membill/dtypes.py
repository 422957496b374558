"""Number formats and their widths in bytes; the compute dtype's width is the symbol beta."""

from __future__ import annotations

from dataclasses import dataclass

import sympy

from membill.symbols import beta


@dataclass(frozen=True)
class DType:
    """A number format: its name and the bytes that one entry takes."""

    name: str
    bytes: sympy.Expr

    def __str__(self) -> str:
        return self.name


COMPUTE = DType("compute", beta)
FLOAT32 = DType("float32", sympy.Integer(4))
BOOL = DType("bool", sympy.Integer(1))
INT32 = DType("int32", sympy.Integer(4))
INT64 = DType("int64", sympy.Integer(8))
UINT64 = DType("uint64", sympy.Integer(8))
FLOAT8 = DType("float8", sympy.Integer(1))
INT8 = DType("int8", sympy.Integer(1))
INT4 = DType("4-bit", sympy.Rational(1, 2))


def promoted(*dtypes: DType) -> DType:
    """The dtype of arithmetic between floats of these: float32 if one is, else the first."""
    return FLOAT32 if FLOAT32 in dtypes else dtypes[0]
