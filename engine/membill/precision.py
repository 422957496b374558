"""Precision: the dtypes in which ops run where not all of them run in the dtype of their inputs.

What goes into a layer, its weights and its tables are stored in one dtype. An op of a kind that
runs in another casts its inputs first, each op its own. A cast is a new storage: where a gradient
needs the input of such an op, the cast is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from membill.dtypes import COMPUTE, FLOAT32, DType
from membill.tensor import Tensor


@dataclass(frozen=True)
class Precision:
    """A way to mix dtypes.

    stored: dtype of the layer's inputs, weights and tables. runs: by kind of op, the dtype in
    which it runs; any other runs in that of its inputs. cast: the op that casts.
    """

    name: str
    stored: DType
    runs: Mapping[str, DType] = field(hash=False)
    cast: Callable[..., Tensor]
    summary: str
    source: str = ""

    def prepared(self, kind: str, given: object) -> object:
        """What an op of this kind takes for `given`; masks, indices and float8 stay as they are."""
        if not isinstance(given, Tensor) or given.dtype not in (COMPUTE, FLOAT32):
            return given
        dtype = self.runs[kind]
        return given if given.dtype == dtype else self.cast(given, dtype, name="cast")
