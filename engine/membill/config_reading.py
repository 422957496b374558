"""A model's dimensions from its config.json, as the `Configuration` of its `model_type` says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle, islice
from os import PathLike
from pathlib import Path
from typing import Any

import sympy

from membill import printer
from membill.config import MOST, Configuration, Cycles, Field, by_type, usual_options
from membill.errors import InputError, unknown
from membill.json_file import NOWHERE, deep, read_object, same, shown
from membill.layers import OptionValue
from membill.shapes import Shape
from membill.symbols import L, info

TYPE, CLASSES, INNER = "model_type", "architectures", "text_config"


@dataclass(frozen=True)
class _Found:
    """A configuration on the way: what it says, how it is read, and the sizes so far.

    place: how messages begin. cls: the class of such a model.
    """

    place: str
    config: Mapping[str, Any]
    spec: Configuration
    cls: str
    sizes: dict[sympy.Symbol, int]

    def get(self, key: str) -> Any:
        """The value at a key, NOWHERE if there is none."""
        return deep(self.config, key)

    def key(self, symbol: sympy.Symbol) -> str:
        """What the file calls a symbol."""
        keys = self.spec.fields[symbol].keys
        return next((key for key in keys if self.get(key) is not NOWHERE), (*keys, str(symbol))[0])

    def side(self, expr: sympy.Expr) -> str:
        """`hidden_size = 4096, num_attention_heads = 32` of d/h; a number as it is."""
        symbols = [symbol for symbol in self.spec.fields if symbol in expr.free_symbols]
        said = []
        for symbol in symbols:
            given = self.get(key := self.key(symbol))
            said.append(f"{key} = {self.sizes[symbol] if given is NOWHERE else shown(given)}")
        return ", ".join(said) or str(expr)

    def wrong(self, text: str) -> InputError:
        """The error that says so of this file."""
        return InputError(f"{self.place}: {text}")


def shape_at(path: str | PathLike[str]) -> Shape:
    """The dimensions and options of the model that a config.json describes.

    It is named for its folder or, if the file is not called config.json, for itself. Raises
    InputError that names the file, the field, its value and what is allowed.
    """
    file = Path(path)
    config = read_object(file)
    name = file.resolve().parent.name if file.name == "config.json" else file.stem
    origin = config.get("_name_or_path")
    source = origin if isinstance(origin, str) and origin else str(file)
    return shape_of(config, name or file.stem, str(file), source)


def shape_of(config: Mapping[str, Any], name: str, place: str, source: str = "") -> Shape:
    """The same of a configuration that is read already; place: how messages begin."""
    inner, spec = _chosen(config, place)
    inside = inner is not config
    where = f"{place}, {INNER}" if inside else place
    found = _Found(where, inner, spec, _class(inner, spec, where), {})
    _check_required(found)
    _read_sizes(found)
    usual = usual_options(spec.architecture)
    options = {name: value for name, value in _options(found) if value != usual[name]}
    _check_sizes(found)
    origin = f"{source or place}{f', its {INNER}' if inside else ''}"
    fields = spec.fields
    dims = {str(symbol): n for symbol, n in found.sizes.items() if not fields[symbol].helper}
    return Shape(name, name, spec.architecture, origin, dims, options)


def _chosen(config: Mapping[str, Any], place: str) -> tuple[Mapping[str, Any], Configuration]:
    """The configuration that is read, the whole or its text_config, and how."""
    known = by_type()
    spec = _spec(config, known)
    if spec is not None:
        return config, spec
    inner = config.get(INNER)
    if not isinstance(inner, dict):
        if TYPE not in config:
            raise InputError(f"{place} has no {TYPE}. Known: {', '.join(known)}")
        raise unknown(TYPE, config[TYPE], known, f"in {place}")
    spec = _spec(inner, known)
    if spec is None:
        raise unknown(TYPE, inner.get(TYPE), known, f"of {INNER} in {place}")
    keys = (setting.key for setting in spec.options.values())
    return {**{key: config[key] for key in keys if key in config}, **inner}, spec


def _spec(
    config: Mapping[str, Any], known: Mapping[str, list[Configuration]]
) -> Configuration | None:
    kind, classes = config.get(TYPE), config.get(CLASSES)
    for spec in (spec for specs in known.values() for spec in specs):
        if TYPE in config:
            fits = spec.kind == kind
        else:
            fits = isinstance(classes, list) and any(name in classes for name in spec.classes)
        if fits and _described(config, spec):
            return spec
    return None


def _described(config: Mapping[str, Any], spec: Configuration) -> bool:
    """Whether a file of the type is one of those that a configuration is for."""
    return all(_among(deep(config, key), values) for key, values in spec.when.items()) and all(
        deep(config, key) not in (NOWHERE, None) for key in spec.given
    )


def _class(config: Mapping[str, Any], spec: Configuration, place: str) -> str:
    classes = config.get(CLASSES)
    if classes is None:
        return next(iter(spec.classes))
    for name in spec.classes:
        if isinstance(classes, list) and name in classes:
            return name
    allowed = [[name] for name in spec.classes]
    raise InputError(f"{place}: {_unsupported(spec, CLASSES, classes, allowed)}")


def _check_required(found: _Found) -> None:
    for key, allowed in found.spec.requires.items():
        value = found.get(key)
        if value is not NOWHERE and not _among(value, allowed):
            raise found.wrong(_unsupported(found.spec, key, value, allowed))


def _among(value: object, allowed: Iterable[object]) -> bool:
    return any(same(value, each) for each in allowed)


def _unsupported(spec: Configuration, key: str, value: object, allowed: Iterable[object]) -> str:
    choices = " or ".join(map(shown, allowed))
    return f"{key} = {shown(value)} is not supported for {spec.kind}: only {choices}"


def _read_sizes(found: _Found) -> None:
    fields = {
        symbol: item for symbol, item in found.spec.fields.items() if item.only in ("", found.cls)
    }
    lacking = [
        item.keys[0]
        for item in fields.values()
        if item.required and all(found.get(key) is NOWHERE for key in item.keys)
    ]
    if lacking:
        raise found.wrong(f"lacks {', '.join(lacking)}, which {found.spec.kind} needs")
    for symbol, item in fields.items():
        size = _size(found, symbol, item)
        if size is not None:
            found.sizes[symbol] = size


def _size(found: _Found, symbol: sympy.Symbol, item: Field) -> int | None:
    given = _given(found, item)
    if not given and item.absent is not None:
        return _evaluated(found, symbol, item.absent)
    key, value = next(iter(given.items()), ("", None))
    if value is None and (not given or item.optional or item.default is not None):
        return None if item.default is None else _evaluated(found, symbol, item.default)
    return _told(found, symbol, item, key, value)


def _told(found: _Found, symbol: sympy.Symbol, item: Field, key: str, value: Any) -> int:
    """The size that the value of a key stands for."""
    if item.flag is not None:
        if not isinstance(value, bool):
            raise found.wrong(f"{key} = {shown(value)} is not true or false")
        return _evaluated(found, symbol, item.flag[0 if value else 1])
    least = info(symbol).least
    if item.share is not None:
        whole = _evaluated(found, symbol, item.share)
        if type(value) not in (int, float) or not least <= value * whole <= whole:
            raise found.wrong(f"{key} = {shown(value)} is not a number from {least}/{whole} to 1")
        return int(value * whole)
    if type(value) is not int or not least <= value <= MOST:
        raise found.wrong(f"{key} = {shown(value)} is not an integer from {least} to {MOST:,}")
    return value if item.times is None else value * _evaluated(found, symbol, item.times)


def _given(found: _Found, item: Field) -> dict[str, Any]:
    """What the file says by key; InputError where two keys do not agree."""
    given = {key: found.get(key) for key in item.keys if found.get(key) is not NOWHERE}
    if item.entries:
        given = {
            key: len(value) if isinstance(value, list | dict) else value
            for key, value in given.items()
        }
    first = next(iter(given), "")
    for key, value in given.items():
        if not same(value, given[first]):
            raise found.wrong(f"{key} = {shown(value)} contradicts {first} = {shown(given[first])}")
    return given


def _evaluated(found: _Found, symbol: sympy.Symbol, expr: sympy.Expr) -> int:
    value = expr.subs(found.sizes)
    if value.is_Integer:
        return int(value)
    raise found.wrong(
        f"{found.key(symbol)}, which is not given, is {printer.text(expr)}, and that is no whole "
        f"number for {found.side(expr)}"
    )


def _options(found: _Found) -> Iterator[tuple[str, OptionValue]]:
    yield from found.spec.classes[found.cls].items()
    for name, setting in found.spec.options.items():
        value = found.get(setting.key)
        value = setting.absent if value is NOWHERE else value
        chosen = [to for of, to in setting.values if same(value, of)]
        if not chosen:
            allowed = [of for of, _ in setting.values]
            raise found.wrong(_unsupported(found.spec, setting.key, value, allowed))
        yield name, chosen[0]


def _check_sizes(found: _Found) -> None:
    sizes = found.sizes
    for key, expr in found.spec.equal.items():
        value = found.get(key)
        if value not in (NOWHERE, None) and not same(value, wanted := expr.subs(sizes)):
            then = "" if expr.is_Symbol else f", for which it is {printer.text(expr)} = {wanted}"
            raise found.wrong(f"{key} = {shown(value)} contradicts {found.side(expr)}{then}")
    for one, other in found.spec.divides:
        if other.subs(sizes) % one.subs(sizes):
            raise found.wrong(f"{found.side(other)} is not a multiple of {found.side(one)}")
    for one, other in found.spec.at_most:
        if one.subs(sizes) > other.subs(sizes):
            raise found.wrong(f"{found.side(one)} is more than {found.side(other)}")
    for key, cycles in found.spec.cycles.items():
        _check_cycles(found, key, cycles)


def _check_cycles(found: _Found, key: str, cycles: Cycles) -> None:
    given, layers = found.get(key), found.sizes[L]
    if given in (NOWHERE, None):
        return
    if not isinstance(given, list) or len(given) != layers:
        entries = f"{len(given)} entries" if isinstance(given, list) else shown(given)
        raise found.wrong(f"{key} has {entries}, but {found.side(L)}: give one for each layer")
    index = 0
    for kinds, number in cycles:
        for kind in islice(cycle(kinds), int(number.subs(found.sizes))):
            if given[index] != kind:
                turn = ", in turn" if len(kinds) > 1 else ""
                side = "" if number == L else f" for {found.side(number)}"
                raise found.wrong(
                    f"{key}[{index}] = {shown(given[index])} is not supported for "
                    f"{found.spec.kind}: only {', '.join(map(shown, kinds))}{turn}{side}"
                )
            index += 1
