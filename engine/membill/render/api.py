"""The public names of the library as data for pages: signatures and docstrings, by `inspect`."""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import membill
from membill import spec

MODULES: tuple[ModuleType, ...] = (membill, spec)
"""The modules whose `__all__` is the public library."""

WIDTH = 88
"""Columns of a signature on a page."""


@dataclass(frozen=True)
class Member:
    """An attribute or method of a class: how it is written, and its docstring."""

    name: str
    signature: str
    doc: str


@dataclass(frozen=True)
class PublicName:
    """A public name of a module. kind: class, function or constant. source: its file and line."""

    module: str
    name: str
    kind: str
    signature: str
    doc: str
    source: str
    members: tuple[Member, ...] = ()

    @property
    def title(self) -> str:
        """The name with its module, as it is imported."""
        return f"{self.module}.{self.name}"

    @property
    def page(self) -> str:
        """The name of its page; with the kind, for some file systems take `Plan` for `plan`."""
        return f"{self.title}.{self.kind}".lower()

    @property
    def summary(self) -> str:
        """The first sentence of the docstring."""
        return re.split(r"(?<=\.)\s", self.doc, maxsplit=1)[0]


@functools.cache
def public() -> tuple[PublicName, ...]:
    """Every public name, by module, in the order of `__all__`."""
    return tuple(
        _described(module.__name__, name, getattr(module, name))
        for module in MODULES
        for name in module.__all__
    )


def _described(module: str, name: str, value: Any) -> PublicName:
    if inspect.isclass(value):
        signature = name if issubclass(value, enum.Enum) else _call(name, value)
        members = tuple(_members(value))
        return PublicName(module, name, "class", signature, _doc(value), _source(value), members)
    if callable(value) and hasattr(value, "__name__"):
        return PublicName(module, name, "function", _call(name, value), _doc(value), _source(value))
    kind = type(value)
    own = kind.__module__.partition(".")[0] == membill.__name__
    signature = f"{name}: {kind.__name__}  # {value}" if own else f"{name} = {value}"
    doc, source = (_doc(kind), _source(kind)) if own else ("", module.replace(".", "/"))
    return PublicName(module, name, "constant", signature, doc, source)


def _members(cls: type) -> Iterator[Member]:
    """What a class declares itself and shows: fields, then properties and methods."""
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    for field in fields:
        if not field.name.startswith("_"):
            yield Member(field.name, f"{field.name}: {field.type}", "")
    for name, value in vars(cls).items():
        if name.startswith("_"):
            continue
        if isinstance(value, property | functools.cached_property):
            getter = value.fget if isinstance(value, property) else value.func
            yield Member(name, f"{name}: {_returned(getter)}", _doc(value))
        elif inspect.isfunction(inspect.unwrap(getattr(cls, name))):
            yield Member(name, _call(name, getattr(cls, name)), _doc(getattr(cls, name)))


class _Bare(str):
    """A text that is its own `repr`: an annotation or default as it is written."""

    __slots__ = ()
    __repr__ = str.__str__


def _call(name: str, value: Any) -> str:
    """A call's signature, one parameter a line where it is long."""
    try:
        signature = inspect.signature(value)
    except ValueError:  # an exception has none
        return name
    parameters = [_plain(each) for each in signature.parameters.values()]
    returned = _annotation(signature.return_annotation)
    bare = signature.replace(parameters=parameters, return_annotation=returned)
    line = f"{name}{bare}"
    if len(line) <= WIDTH:
        return line
    inside = _lines(parameters)
    return f"{name}(\n{inside})" + line[line.rindex(")") + 1 :]


def _plain(parameter: inspect.Parameter) -> inspect.Parameter:
    """Annotations without quotes; a default that is long to write as an ellipsis."""
    default = parameter.default
    if default is not parameter.empty and len(repr(default)) > WIDTH // 4:
        default = _Bare("...")
    return parameter.replace(annotation=_annotation(parameter.annotation), default=default)


def _annotation(given: Any) -> Any:
    return _Bare(given) if isinstance(given, str) else given


def _lines(parameters: Iterable[inspect.Parameter]) -> str:
    found: list[str] = []
    for parameter in parameters:
        starred = any(each.startswith("*") for each in found)
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            found.append("*")
        found.append(str(parameter))
    return "".join(f"    {each},\n" for each in found)


def _returned(function: Any) -> str:
    return str(inspect.signature(function).return_annotation)


def _doc(value: Any) -> str:
    return inspect.getdoc(value) or ""


def _source(value: Any) -> str:
    """The file within its package, and the line: `membill/bill.py, line 50`."""
    own = inspect.unwrap(value)
    file = Path(inspect.getsourcefile(own) or "")
    package = own.__module__.partition(".")[0]
    parts = file.parts
    inside = parts[len(parts) - parts[::-1].index(package) - 1 :] if package in parts else parts
    return f"{'/'.join(inside)}, line {inspect.getsourcelines(own)[1]}"
