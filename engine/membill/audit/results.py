"""What all audits found, as data and as a file. Reading needs no PyTorch.

>>> from membill.audit import results
>>> (found,) = results.shipped()                     # one for each spec package that ships any
>>> found.versions["torch"], found.of_layer(membill.layer("gpt"))
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources.abc import Traversable
from typing import Any

from membill import registry
from membill.errors import InputError
from membill.layers import Layer, OptionValue
from membill.tables import spelled


@dataclass(frozen=True)
class OpResult:
    """An op that keeps what PyTorch keeps, in that many comparisons.

    calls: the ways in which it was called, by name. A comparison is a call at one size, in one
    dtype, on one device, with one choice of what takes a gradient.
    """

    kind: str
    calls: tuple[str, ...]
    comparisons: int


@dataclass(frozen=True)
class Run:
    """A layer or model that keeps what PyTorch keeps, at one size: each storage, to the byte.

    dims: by symbol name. model: whose dimensions they are, "" for small ones drawn for the
    audit. device: "meta", or "cpu" for real tensors. bytes: of all storages, tables included.
    """

    dims: Mapping[str, int]
    dtype: str
    device: str
    storages: int
    bytes: int
    model: str = ""

    def __str__(self) -> str:
        sizes = " ".join(f"{name}={size}" for name, size in self.dims.items())
        where = f"{self.model or 'small'}, {sizes}, {self.dtype}, {self.device}"
        return f"{where}: {self.storages} storages, {self.bytes:,} B"


@dataclass(frozen=True)
class Subject:
    """A layer in one variant, or a whole model of such layers, beside one module.

    layer: the spec of the layer. module: the class, or the spec's own plain module.
    options: of the layer or the model. adapter, on: what was put in and where. frozen: scopes.
    """

    layer: str
    module: str
    options: Mapping[str, OptionValue]
    runs: tuple[Run, ...]
    adapter: str = ""
    on: tuple[str, ...] = ()
    frozen: tuple[str, ...] = ()

    def __str__(self) -> str:
        options = (f"{name}={spelled(value)}" for name, value in self.options.items())
        adapter = [f"{self.adapter} on {', '.join(self.on)}"] if self.adapter else []
        frozen = [f"{', '.join(self.frozen)} frozen"] if self.frozen else []
        return ", ".join([" ".join((self.module, *options)), *adapter, *frozen])


@dataclass(frozen=True)
class Results:
    """All that was found equal. versions: of torch and the libraries, by name; date: ISO."""

    versions: Mapping[str, str]
    date: str
    ops: tuple[OpResult, ...]
    layers: tuple[Subject, ...]
    models: tuple[Subject, ...]

    def of_op(self, kind: str) -> OpResult | None:
        """What was found of the op of this kind."""
        return next((op for op in self.ops if op.kind == kind), None)

    def of_layer(self, layer: Layer) -> tuple[Subject, ...]:
        """What was found of a layer in just this variant, by module."""
        adapted = layer.adapted
        wanted = (
            layer.name,
            layer.chosen,
            adapted.adapter.name if adapted else "",
            adapted.on if adapted else (),
            layer.frozen,
        )
        return tuple(
            item
            for item in self.layers
            if (item.layer, item.options, item.adapter, item.on, item.frozen) == wanted
        )

    def summary(self) -> str:
        """`31 ops in 1,000 comparisons, 14 layers in 900, 2 models in 30, ... 2.13.0`."""
        compared = sum(op.comparisons for op in self.ops)
        parts = [f"{len(self.ops)} ops in {compared:,} comparisons"]
        for what, items in (("layers", self.layers), ("models", self.models)):
            runs = sum(len(item.runs) for item in items)
            parts.append(f"{len({item.layer for item in items})} {what} in {runs:,}")
        libraries = (f"{name} {version}" for name, version in self.versions.items())
        return f"{', '.join(parts)}; each storage equal, to the byte, with {', '.join(libraries)}"

    def lines(self) -> Iterator[str]:
        """What was found, a line for each op and run; the date apart."""
        yield from (f"{name} {version}" for name, version in self.versions.items())
        for op in self.ops:
            yield f"{op.kind}: {op.comparisons} comparisons of {'; '.join(op.calls)}"
        for item in (*self.layers, *self.models):
            yield from (f"{item}: {run}" for run in item.runs)


def differences(before: Results, now: Results) -> tuple[str, ...]:
    """The lines in which two results differ."""
    old, new = set(before.lines()), set(now.lines())
    return (
        *(f"no longer so: {line}" for line in sorted(old - new)),
        *(f"not on file: {line}" for line in sorted(new - old)),
    )


def as_text(found: Results) -> str:
    """The results as JSON with a line for each op and each run, so that a change reads as one."""
    head = {"versions": found.versions, "date": found.date}
    ops = (json.dumps(asdict(op)) for op in found.ops)
    parts = [
        *(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()),
        f'"ops": [\n{_joined(ops)}\n]',
        f'"layers": [\n{_joined(map(_subject, found.layers))}\n]',
        f'"models": [\n{_joined(map(_subject, found.models))}\n]',
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _subject(item: Subject) -> str:
    data = {key: value for key, value in asdict(item).items() if value not in ("", ())}
    runs = [
        json.dumps({key: value for key, value in run.items() if value != ""})
        for run in data.pop("runs")
    ]
    return f'{json.dumps(data)[:-1]}, "runs": [\n{_joined(runs)}\n]}}'


def _joined(lines: Iterable[str]) -> str:
    return ",\n".join(lines)


def read(file: Traversable) -> Results:
    """The results in a file (a Path, say); InputError if it holds none."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be read as results of the audit: {error}") from error
    try:
        return Results(
            versions=data["versions"],
            date=data["date"],
            ops=tuple(OpResult(**{**op, "calls": tuple(op["calls"])}) for op in data["ops"]),
            layers=tuple(_read_subject(item) for item in data["layers"]),
            models=tuple(_read_subject(item) for item in data["models"]),
        )
    except (KeyError, TypeError) as error:
        raise InputError(
            f"{file} holds no results of the audit: write it anew with --write"
        ) from error


def _read_subject(data: Mapping[str, Any]) -> Subject:
    runs = tuple(Run(**run) for run in data["runs"])
    places = {key: tuple(data.get(key, ())) for key in ("on", "frozen")}
    return Subject(**{**data, **places, "runs": runs})


@cache
def shipped() -> tuple[Results, ...]:
    """The results that the installed spec packages ship, one for each that does."""
    return tuple(read(file) for file in registry.known().audits)
