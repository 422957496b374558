"""Model shapes: the dimensions of real models, as data with a source."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import sympy

from membill import symbols
from membill.errors import InputError, unknown

_FIELDS = ("title", "architecture", "source", "dims", "options")
_REQUIRED = _FIELDS[:-1]


@dataclass(frozen=True)
class Shape(Mapping[str, int]):
    """Dimensions by symbol name, as a mapping: `formula(**shape, b=1, T=8192)`.

    architecture: the spec of the model. source: where the numbers were published. options: of the
    architecture, where they are not its defaults (tied = true).
    """

    name: str
    title: str
    architecture: str
    source: str
    dims: Mapping[str, int]
    options: Mapping[str, str | bool] = field(default_factory=dict)

    def __getitem__(self, symbol: str) -> int:
        return self.dims[symbol]

    def __iter__(self) -> Iterator[str]:
        return iter(self.dims)

    def __len__(self) -> int:
        return len(self.dims)

    def numbers(self) -> dict[sympy.Symbol, int]:
        """The dimensions by symbol."""
        return {symbols.named(name).symbol: size for name, size in self.dims.items()}


@lru_cache(maxsize=1024)
def read_shape(name: str, text: str) -> Shape:
    """Parse one model's TOML; InputError names the field that is missing, unknown or no count."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"model {name!r} is not TOML: {error}") from error
    for key in data:
        if key not in _FIELDS:
            raise unknown("field", key, _FIELDS, f"of model {name!r}")
    for key in _REQUIRED:
        if not isinstance(data.get(key), dict if key == "dims" else str):
            what = "a table of sizes" if key == "dims" else "a text"
            given = f", not {data[key]!r}" if key in data else ""
            raise InputError(f"model {name!r} needs {key}, {what}{given}")
    options = data.get("options", {})
    if not isinstance(options, dict) or not all(
        isinstance(value, (str, bool)) for value in options.values()
    ):
        raise InputError(f"model {name!r}: options = {options!r}: give a table of names and flags")
    for symbol, size in data["dims"].items():
        if not symbols.is_defined(symbol):
            raise unknown("symbol", symbol, symbols.names(), f"of model {name!r}")
        if type(size) is not int or size <= 0:
            raise InputError(f"model {name!r}: {symbol} = {size!r} is not an integer > 0")
    title, architecture, source, sizes = (data[key] for key in _REQUIRED)
    return Shape(name, title, architecture, source, sizes, options)
