"""What spec packages bring for the audit: modules, counterparts of ops, GPU kernels.

A spec package that has a subpackage `torch_reference` is asked for it, and only by the audit,
so that specs themselves need no PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from random import Random
from typing import Any

from membill import registry
from membill.architecture import Architecture
from membill.audit.requirements import require_torch
from membill.errors import InputError, unknown
from membill.finding import model
from membill.layers import Layer, OptionValue
from membill.models import Model
from membill.tables import options_text
from membill.tensor import Tensor

Factory = Callable[..., Any]
"""Makes a module from a layer's dimensions and options, given by keyword.

It returns the module, or (module, inputs), or (module, inputs, tables that all layers share).
It runs with the audited device and dtype as PyTorch's defaults.
"""

Adapt = Callable[[Any, Collection[str], Mapping[str, Any]], Any]
"""Puts an adapter into a module: called with it, the scopes or names of submodules at which,
and the dimensions by name. Returns the module to run, where the adapter alone takes gradients."""


@dataclass(frozen=True)
class Reference:
    """A module that a layer's spec describes.

    name: the layer's, or the class in the library that it is from. model, tokens, sequences: the
    real model at whose shape to audit it, and the length and number of its sequences.
    covers: whether the module can be asked for a variant of the layer.
    """

    name: str
    layer: str
    factory: Factory
    model: str
    tokens: int
    sequences: int
    covers: Callable[[Layer], bool]


@dataclass(frozen=True)
class ModelReference:
    """A whole model of a library's, from the batch on, that an architecture describes.

    name: the class in the library that it is from. architecture: the spec. usual: the options of
    the spec which the class has, where they are not the defaults. factory: as that of a layer,
    with L among the dimensions. variants: options besides these, each audited. model, tokens: a
    real model, and the length of its sequences; own: dimensions that are not that model's.
    sequences, in_full: how many, and options, at the real model's shape.
    """

    name: str
    architecture: str
    usual: Mapping[str, OptionValue]
    factory: Factory
    variants: tuple[Mapping[str, OptionValue], ...]
    model: str
    tokens: int
    own: Mapping[str, int]
    sequences: int
    in_full: Mapping[str, OptionValue]

    @property
    def layer(self) -> str:
        """The spec of its layers; of the first one's, if there are several."""
        return registry.find(Architecture, self.architecture).layers[0]

    def spec(self, options: Mapping[str, OptionValue]) -> Model:
        """The spec with options by name."""
        return model(self.architecture, **{**self.usual, **options})


@dataclass(frozen=True)
class Counterpart:
    """An op called in both worlds.

    kind: the op. label: what is special about this call, if there are several.
    inputs: names and symbolic shapes of the tensors that go in.
    call: the op on symbolic tensors. run: the same in PyTorch; it gets the inputs, weights and
    tables by their names. heads_first: inputs whose second and third axis are swapped in memory.
    """

    kind: str
    label: str
    inputs: Mapping[str, tuple[object, ...]]
    call: Callable[..., Tensor]
    run: Callable[..., Any]
    heads_first: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """`linear` or `linear, bias`."""
        return ", ".join(filter(None, (self.kind, self.label)))


@dataclass
class _References:
    modules: dict[str, Reference] = field(default_factory=dict)
    models: dict[str, ModelReference] = field(default_factory=dict)
    adapters: dict[str, Adapt] = field(default_factory=dict)
    tuned: list[tuple[Layer, Mapping[str, int]]] = field(default_factory=list)
    ops: dict[str, list[Counterpart]] = field(default_factory=dict)
    kernels: dict[Any, Callable[..., Any]] = field(default_factory=dict)
    sizes: list[Callable[[Random], Mapping[str, int]]] = field(default_factory=list)


_known = _References()


@cache
def load() -> _References:
    """Import `torch_reference` of every spec package that has one; needs PyTorch."""
    require_torch()
    for point in sorted(entry_points(group=registry.GROUP), key=lambda point: point.name):
        name = f"{point.module}.torch_reference"
        if find_spec(name) is not None:
            import_module(name)
    return _known


def add_reference(
    layer: str,
    *,
    model: str,
    tokens: int,
    sequences: int = 1,
    name: str = "",
    covers: Callable[[Layer], bool] = lambda layer: True,
) -> Callable[[Factory], Factory]:
    """Register the factory of a module that `layer` describes; see Reference."""

    def register(factory: Factory) -> Factory:
        made = Reference(name or layer, layer, factory, model, tokens, sequences, covers)
        _known.modules[made.name] = made
        return factory

    return register


def add_model(known: ModelReference) -> None:
    """Register a whole model; see ModelReference."""
    _known.models[known.name] = known


def adapts(name: str) -> Callable[[Adapt], Adapt]:
    """Register how PyTorch puts in the adapter of this name; see Adapt."""

    def register(adapt: Adapt) -> Adapt:
        _known.adapters[name] = adapt
        return adapt

    return register


def audit_too(layer: Layer, **dims: int) -> None:
    """Register a layer with an adapter or frozen weights, to be audited besides the variants.

    dims: what it is written in and a real model's shape lacks, such as an adapter's rank.
    """
    _known.tuned.append((layer, dims))


def counterpart(
    kind: str,
    label: str = "",
    *,
    call: Callable[..., Tensor],
    heads_first: tuple[str, ...] = (),
    **inputs: tuple[object, ...],
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a PyTorch function as the counterpart of an op; see Counterpart."""

    def register(run: Callable[..., Any]) -> Callable[..., Any]:
        made = Counterpart(kind, label, inputs, call, run, heads_first)
        _known.ops.setdefault(kind, []).append(made)
        return run

    return register


def stands_in_for(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register what to run in place of PyTorch functions, to keep what a GPU's kernel keeps."""

    def register(kernel: Callable[..., Any]) -> Callable[..., Any]:
        _known.kernels.update(dict.fromkeys(functions, kernel))
        return kernel

    return register


def draws_sizes(
    draw: Callable[[Random], Mapping[str, int]],
) -> Callable[[Random], Mapping[str, int]]:
    """Register a function that draws small dimensions by symbol name, fit to run on a CPU."""
    _known.sizes.append(draw)
    return draw


def modules() -> Mapping[str, Reference]:
    """Every module that a layer's spec is audited against, by name."""
    return load().modules


def reference(layer: str) -> Reference:
    """The module that the layer of this name is audited against; InputError if there is none."""
    found = {known.layer: known for known in modules().values()}
    found.update({known.layer: known for known in modules().values() if known.name == layer})
    if layer not in found:
        raise unknown("layer with a module to audit it against", layer, found)
    return found[layer]


def covering(layer: Layer) -> Reference:
    """The reference of a layer in this variant; InputError if none can be asked for it."""
    usual = reference(layer.name)
    same = (known for known in modules().values() if known.layer == layer.name)
    for known in (usual, *same):
        if known.covers(layer):
            return known
    raise InputError(
        f"{usual.name}, which layer {layer.name!r} is audited against, has no variant "
        f"{options_text(layer)}; name a module of your own with --against {layer.name}"
    )


def models() -> Mapping[str, ModelReference]:
    """Every whole model that an architecture is audited against, by name."""
    return load().models


def adapter(name: str) -> Adapt:
    """How PyTorch puts in the adapter of this name; InputError if no spec package says."""
    known = load().adapters
    if name not in known:
        raise unknown("adapter with a counterpart in PyTorch", name, known)
    return known[name]


def tuned() -> tuple[tuple[Layer, Mapping[str, int]], ...]:
    """The layers with adapters or frozen weights to audit, with dimensions of their own."""
    return tuple(load().tuned)


def counterparts() -> Mapping[str, list[Counterpart]]:
    """The counterparts of all ops, by kind."""
    return load().ops


def kernels() -> Mapping[Any, Callable[..., Any]]:
    """What stands in for which PyTorch function."""
    return load().kernels


def small_sizes(count: int, seed: int = 0) -> tuple[Mapping[str, int], ...]:
    """`count` sets of small dimensions, the same for the same seed."""
    random = Random(seed)
    draws = load().sizes
    return tuple({k: v for draw in draws for k, v in draw(random).items()} for _ in range(count))
