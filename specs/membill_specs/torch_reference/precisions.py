"""Modules under autocast, and with linears that multiply in float8."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from membill.audit.building import built, defaults
from membill.audit.references import Factory, adapts
from membill.paths import within
from membill.symbols import T, b, d
from membill_specs.torch_reference.kernels import narrowed


class Autocast(nn.Module):
    """A module run in 16 bits where autocast says so. PyTorch casts nothing on `meta`."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, *inputs: Any) -> Any:
        """As the module's. Of a leaf, which a layer's input is not in a model, casts are cached."""
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.module(*(x.view_as(x) for x in inputs))


def autocast(factory: Factory) -> Factory:
    """The factory's module in float32 under autocast, on a CPU; its input is (b, T, d)."""

    def make(**known: Any) -> Any:
        sizes = {name: known[name] for name in ("b", "T", "d")}
        with defaults("float32", "cpu"):
            module, inputs, tables = built(factory, sizes, known, {"x": (b, T, d)})
        return Autocast(module), inputs, tables

    return make


class Float8Product(torch.autograd.Function):
    """y = x Wᵀ in the dtype of x, from float8 casts of x and W without scales, which it keeps."""

    @staticmethod
    def forward(ctx: Any, x: Any, weight: Any) -> Any:
        """x is (..., in), W (out, in)."""
        x8, weight8 = (tensor.to(torch.float8_e4m3fn) for tensor in (x, weight))
        needs_x, needs_weight = ctx.needs_input_grad
        ctx.save_for_backward(x8 if needs_weight else None, weight8 if needs_x else None)
        return F.linear(x8.to(x.dtype), weight8.to(x.dtype))

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        """Of x and of W, from the casts."""
        x8, weight8 = ctx.saved_tensors
        flat = gradient.flatten(0, -2)
        return (
            None if weight8 is None else gradient @ weight8.to(gradient.dtype),
            None if x8 is None else flat.T @ x8.to(gradient.dtype).flatten(0, -2),
        )


class Float8Linear(nn.Module):
    """A linear with its product in float8 and its parameters as they are.

    It keeps what Transformer Engine's linear keeps, less the scales. torchao's keeps its input
    instead and casts it again in backward.
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.weight, self.bias = linear.weight, linear.bias

    def forward(self, x: Any) -> Any:
        """(..., in) to (..., out)."""
        y = Float8Product.apply(narrowed(x), self.weight)
        return y if self.bias is None else y + narrowed(self.bias)


@adapts("float8")
def float8(module: nn.Module, on: Collection[str], dims: Mapping[str, Any]) -> nn.Module:
    """Each linear within `on` multiplies in float8."""
    for path, part in list(module.named_modules()):
        if isinstance(part, nn.Linear) and within(path, tuple(on)):
            module.set_submodule(path, Float8Linear(part))
    return module
