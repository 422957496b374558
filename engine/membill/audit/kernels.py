"""GPU kernels without a GPU: run on any device, keep what a GPU would keep.

PyTorch chooses kernels by device, and each keeps tensors of its own. Spec packages say which
function a GPU serves with which kernel; `Kernels` puts it there while a module runs. On `meta`
PyTorch's own shape function and gradient formula of that kernel decide what is saved. On a CPU,
which lacks the kernel, they are asked first and `emulate` saves the same beside a result
computed there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.overrides import TorchFunctionMode


class Kernels(TorchFunctionMode):
    """Runs the kernel that stands in for a function, and knows which function is running."""

    def __init__(self, kernels: Mapping[Any, Callable[..., Any]]) -> None:
        super().__init__()
        self.kernels = kernels
        self.running = ""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        outer, self.running = self.running, getattr(func, "__name__", str(func)).strip("_")
        try:
            return self.kernels.get(func, func)(*args, **(kwargs or {}))
        finally:
            self.running = outer


@contextmanager
def meta_kernel(op: str, shapes: Callable[..., Any]) -> Iterator[None]:
    """Give an ATen op a kernel on `meta`, so that its own gradient formula says what is saved.

    Without one PyTorch takes an op apart that has only a GPU kernel. `Library.impl` refuses to
    register it for that very reason, hence the call below it.
    """
    with torch.library._scoped_library("aten", "IMPL") as library:
        library.m.impl(op, "Meta", shapes, False)
        yield


def emulate(kernel: Callable[..., Any], compute: Callable[..., Any], *args: Any) -> Any:
    """The result of `compute(*args)`, with what `kernel(*args)` saves on `meta` saved for it.

    Both take tensors or None and give one tensor. Off the CPU, `kernel` runs itself.
    """
    if all(arg is None or arg.device.type != "cpu" for arg in args):
        return kernel(*args)
    twins = [None if arg is None else _on_meta(arg) for arg in args]
    packed: list[torch.Tensor] = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        packed.append(tensor)
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        result = kernel(*twins)
    places = {_address(twin): index for index, twin in enumerate(twins) if twin is not None}
    plan = [
        places.get(_address(tensor), None if _address(tensor) == _address(result) else tensor)
        for tensor in packed
    ]
    return _Emulated.apply(compute, plan, *args)


def _on_meta(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().to("meta").requires_grad_(tensor.requires_grad)


def _address(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)


class _Emulated(torch.autograd.Function):
    """Saves by plan: an index is that argument, None the result, a tensor one made like it."""

    @staticmethod
    def forward(ctx: Any, compute: Callable[..., Any], plan: list[Any], *args: Any) -> Any:
        result = compute(*args)
        made = {_address(x): _like(x) for x in plan if isinstance(x, torch.Tensor)}

        def real(item: Any) -> Any:
            if isinstance(item, torch.Tensor):
                return made[_address(item)]
            return result if item is None else args[item]

        ctx.save_for_backward(*map(real, plan))
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise NotImplementedError("a kernel that stands in for a GPU's is recorded forward only")


def _like(tensor: torch.Tensor) -> torch.Tensor:
    return torch.empty(tensor.shape, dtype=tensor.dtype, device="cpu")
