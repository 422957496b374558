"""What an op's gradients need, read off the graphs of the layers that use it."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from membill.architecture import Architecture
from membill.graph import Op
from membill.layers import Layer
from membill.ops import OpSpec
from membill.render.uses import mostly
from membill.shapes import Shape
from membill.tensor import Role, Tensor


@dataclass(frozen=True)
class Gradient:
    """One gradient of an op: of what, which tensors it needs, and its formula as LaTeX.

    A need is a pair: the tensor's name, and whether it is a weight, which is kept anyway.
    """

    target: str
    needs: tuple[tuple[str, bool], ...]
    tex: str


@dataclass(frozen=True)
class Usage:
    """An op with its gradients and the layers that use it in any of their variants.

    architectures: those that use it before or after their layers. models: those of them that
    have a page. without: all other models.
    """

    spec: OpSpec
    gradients: tuple[Gradient, ...]
    layers: tuple[Layer, ...]
    architectures: tuple[Architecture, ...]
    models: tuple[Shape, ...]
    without: tuple[Shape, ...]

    @property
    def nearly_all(self) -> bool:
        """Whether it is shorter to say which of the models do not use it."""
        return mostly(self.models, self.without)


def usages(
    specs: Iterable[OpSpec],
    layers: Iterable[Layer],
    architectures: Iterable[Architecture],
    shapes: Iterable[Shape],
) -> tuple[Usage, ...]:
    """Every op by name, with what the graphs of layers and of models' ends show of it."""
    ordered = sorted(specs, key=lambda spec: spec.kind)
    arguments = {spec.kind: tuple(inspect.signature(spec.function).parameters) for spec in ordered}
    gradients: dict[str, dict[Gradient, None]] = {kind: {} for kind in arguments}
    users: dict[str, dict[Layer | Architecture, None]] = {kind: {} for kind in arguments}
    for user, layer in _users(layers, architectures):
        for op in (op for variant in layer.variants() for op in variant.graph().ops):
            if op.kind in arguments:
                gradients[op.kind].update(dict.fromkeys(_gradients(op, arguments[op.kind])))
                users[op.kind][user] = None
    known = tuple(shapes)
    return tuple(_usage(spec, gradients[spec.kind], users[spec.kind], known) for spec in ordered)


def _usage(
    spec: OpSpec,
    gradients: Iterable[Gradient],
    users: Iterable[Layer | Architecture],
    shapes: Iterable[Shape],
) -> Usage:
    layers = tuple(user for user in users if isinstance(user, Layer))
    architectures = tuple(user for user in users if isinstance(user, Architecture))
    names = {each.name for each in architectures}
    models = tuple(shape for shape in shapes if shape.architecture in names)
    without = tuple(shape for shape in shapes if shape.architecture not in names)
    return Usage(spec, tuple(gradients), layers, architectures, models, without)


def _users(
    layers: Iterable[Layer], architectures: Iterable[Architecture]
) -> Iterator[tuple[Layer | Architecture, Layer]]:
    """Whoever calls ops, with the layer, or what comes once, that it calls them in."""
    for layer in layers:
        yield layer, layer
    for spec in architectures:
        yield spec, spec.start
        yield spec, spec.end


def _gradients(op: Op, arguments: tuple[str, ...]) -> Iterator[Gradient]:
    """In the names of the op's definition: an input has its argument's, the rest their own."""
    inputs = dict(reversed(list(zip(op.inputs, arguments, strict=False))))

    def name(tensor: Tensor) -> str:
        return inputs.get(tensor, tensor.name)

    for target, need in op.gradients.items():
        needed = tuple((name(tensor), tensor.role is Role.WEIGHT) for tensor in need.tensors)
        yield Gradient(name(target), needed, need.tex)
