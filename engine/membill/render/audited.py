"""What the audit found of layers and models, as far as their specs still say the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from membill.architecture import Architecture
from membill.audit import results
from membill.audit.results import Results, Run, Subject
from membill.errors import InputError
from membill.finding import made
from membill.layers import Layer
from membill.ledger import Ledger, total
from membill.models import Model
from membill.registry import Registry
from membill.shapes import Shape
from membill.unrolled import order

_WIDTHS = {"bfloat16": 2, "float16": 2, "float32": 4}


@dataclass(frozen=True)
class Audited:
    """A layer or model beside one module. holds: whether its spec gives what was found."""

    results: Results
    subject: Subject
    holds: bool

    @property
    def pytorch(self) -> str:
        """The version that it was compared with."""
        return self.results.versions.get("torch", "")


@dataclass(frozen=True)
class Checked:
    """All results of one file, each beside what the specs say now."""

    results: Results
    layers: tuple[Audited, ...]
    models: tuple[Audited, ...]
    known: Registry

    @property
    def void(self) -> int:
        """How many of these, layers and models, no longer hold."""
        return sum(not each.holds for each in (*self.layers, *self.models))

    def of_layers(self) -> Iterator[tuple[str, tuple[Audited, ...]]]:
        """What was found of each layer, in the order of the results."""
        for name in dict.fromkeys(each.subject.layer for each in self.layers):
            yield name, tuple(each for each in self.layers if each.subject.layer == name)

    @cached_property
    def doubtful(self) -> Mapping[str, Collection[str]]:
        """By the kind of an op, the layers that call it and no longer give what was found.

        Of an op the number of comparisons is on file and no sizes, so that this is all to go by.
        """
        callers: dict[str, dict[str, None]] = {}
        for each in self.layers:
            layer = None if each.holds else _layer(each.subject, self.known)
            for op in layer.graph().ops if layer else ():
                callers.setdefault(op.kind, {})[each.subject.layer] = None
        return callers


def shipped(known: Registry) -> tuple[Checked, ...]:
    """All results on file beside the specs of a registry."""
    return tuple(_checked(found, known) for found in results.shipped())


def _checked(found: Results, known: Registry) -> Checked:
    layers = (
        Audited(found, each, _holds(_layer(each, known), _telling(each))) for each in found.layers
    )
    models = (Audited(found, each, _modelled(each, known)) for each in found.models)
    return Checked(found, tuple(layers), tuple(models), known)


def audited(layer: Layer) -> tuple[Audited, ...]:
    """What was found of a layer in just this variant, one for each module that it was beside."""
    return tuple(
        Audited(found, subject, _holds(layer, subject.runs))
        for found in results.shipped()
        for subject in found.of_layer(layer)
    )


def _layer(subject: Subject, known: Registry) -> Layer | None:
    """The layer that a subject speaks of; None if there is none any more."""
    if subject.layer not in known.layers:
        return None
    try:
        layer = known.layers[subject.layer].variant(**subject.options).freeze(*subject.frozen)
        return layer.adapt(subject.adapter, subject.on) if subject.adapter else layer
    except InputError:
        return None


def _telling(subject: Subject) -> Collection[Run]:
    """The runs that tell most, each size once: a wider format tells fewer dtypes apart."""
    narrow = min(_WIDTHS[run.dtype] for run in subject.runs)
    runs = (run for run in subject.runs if _WIDTHS[run.dtype] == narrow)
    return {tuple(run.dims.items()): run for run in runs}.values()


def _holds(layer: Layer | None, runs: Collection[Run]) -> bool:
    if layer is None:
        return False
    widths = {_WIDTHS[run.dtype] for run in runs}
    ledgers = {width: layer.ledger(dtype_bytes=width) for width in widths}
    return all(_give([(ledgers[_WIDTHS[run.dtype]], 1)], run) for run in runs)


def _modelled(subject: Subject, known: Registry) -> bool:
    """Whether an architecture of the layer gives what was found of a model.

    The module has options of its own besides those on file: one of the spec's may differ.
    """
    runs = _telling(subject)
    return any(
        all(_give(_ledgers(model, run), run) for run in runs)
        for spec in known.of(Architecture).values()
        if spec.layers[0] == subject.layer
        for model in _candidates(made(spec), subject)
    )


def _candidates(model: Model, subject: Subject) -> Iterator[Model]:
    try:
        chosen = model.variant(**subject.options)
    except InputError:
        return
    yield chosen
    free = chosen.options.keys() - subject.options.keys()
    options = {each.name: each for part in chosen.parts for each in part.layer.options}
    for name, option in options.items():
        for value in option.values if name in free else ():
            if value != chosen.options[name]:
                yield chosen.variant(**{name: value})


def _ledgers(model: Model, run: Run) -> Sequence[tuple[Ledger, int]]:
    """The ledgers of a model at the depth of a run, with how often each comes.

    Nothing is put in for letters: the small sizes of an audit agree with no definition. None
    where the run has no number for a letter that says how many layers there are.
    """
    try:
        parts = Counter((model.start, *order(model, run.dims), model.end))
    except InputError:
        return []
    width = _WIDTHS[run.dtype]
    return [
        (part.layer.ledger(dtype_bytes=width, specialise=False), times)
        for part, times in parts.items()
    ]


def _give(ledgers: Sequence[tuple[Ledger, int]], run: Run) -> bool:
    """Whether ledgers have as many storages as a run, of as many bytes; tables count once."""
    tables = {(row.tensor, row.shape): row.bytes for each, _ in ledgers for row in each.tables}
    if len(tables) + sum(len(each.rows) * times for each, times in ledgers) != run.storages:
        return False
    try:
        sizes = (int(each.total()(**run.dims)) * times for each, times in ledgers)
        return sum(sizes) + int(total(tables.values())(**run.dims)) == run.bytes
    except InputError:
        return False


def beyond(run: Run, shapes: Iterable[Shape]) -> Mapping[str, int]:
    """The dimensions of a run that its model does not have: tokens, sequences, other depths."""
    own: Mapping[str, int] = next((shape for shape in shapes if shape.name == run.model), {})
    return {name: size for name, size in run.dims.items() if own.get(name) != size}


def dtypes(subject: Subject) -> str:
    """`bfloat16, float32`: every dtype in which it was compared."""
    return ", ".join(dict.fromkeys(run.dtype for run in subject.runs))
