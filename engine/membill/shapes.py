"""Model shapes: the dimensions of real models, as data with a source."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from membill import symbols
from membill.errors import InputError, unknown

_FIELDS = ("title", "layer", "source", "dims")


@dataclass(frozen=True)
class Shape(Mapping[str, int]):
    """Dimensions by symbol name, as a mapping: `formula(**shape, b=1, T=8192)`.

    layer: the spec whose layers the model is made of. source: where the numbers were published.
    """

    name: str
    title: str
    layer: str
    source: str
    dims: Mapping[str, int]

    def __getitem__(self, symbol: str) -> int:
        return self.dims[symbol]

    def __iter__(self) -> Iterator[str]:
        return iter(self.dims)

    def __len__(self) -> int:
        return len(self.dims)


def read_shape(name: str, text: str) -> Shape:
    """Parse one model's TOML; InputError names the field that is missing, unknown or no count."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"model {name!r} is not TOML: {error}") from error
    for key in data:
        if key not in _FIELDS:
            raise unknown("field", key, _FIELDS, f"of model {name!r}")
    for key in _FIELDS:
        if not isinstance(data.get(key), dict if key == "dims" else str):
            what = "a table of sizes" if key == "dims" else "a text"
            given = f", not {data[key]!r}" if key in data else ""
            raise InputError(f"model {name!r} needs {key}, {what}{given}")
    for symbol, size in data["dims"].items():
        if not symbols.is_defined(symbol):
            raise unknown("symbol", symbol, symbols.names(), f"of model {name!r}")
        if type(size) is not int or size <= 0:
            raise InputError(f"model {name!r}: {symbol} = {size!r} is not an integer > 0")
    return Shape(name, data["title"], data["layer"], data["source"], data["dims"])
