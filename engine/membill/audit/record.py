"""The recorder: what autograd saves while a module runs, by storage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakSet

import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.nn.modules import module as modules
from torch.utils import _pytree as tree

from membill.audit import references
from membill.audit.kernels import Kernels
from membill.audit.storage import OUTPUT, Record, Storage, origin_of_input


@dataclass
class _Saved:
    """A storage at the moment it is first saved. Holding it keeps its address taken."""

    tensor: torch.Tensor
    module: str
    function: str


@dataclass(frozen=True, eq=False)
class _Held:
    """What autograd holds in place of a tensor that it saves, as long as its graph lives."""

    tensor: torch.Tensor


@dataclass
class _Recorder:
    mode: Kernels
    names: Mapping[torch.nn.Module, str]
    running: list[str] = field(default_factory=list)
    saved: dict[int, _Saved] = field(default_factory=dict)
    held: WeakSet[_Held] = field(default_factory=WeakSet)

    def pack(self, tensor: torch.Tensor) -> _Held:
        function = self.mode.running or "autograd function"
        module = self.running[-1] if self.running else ""
        # Detached, so that the record holds no graph that is of no use to the result.
        self.saved.setdefault(_address(tensor), _Saved(tensor.detach(), module, function))
        held = _Held(tensor)
        self.held.add(held)
        return held

    def kept(self) -> dict[int, _Saved]:
        """By address, what autograd still holds, in the order in which it was saved first."""
        alive = {_address(held.tensor) for held in self.held}
        return {address: item for address, item in self.saved.items() if address in alive}

    @contextmanager
    def following(self) -> Iterator[None]:
        """Know which submodule runs, to say where a tensor was saved."""

        def enter(module: torch.nn.Module, _: Any) -> None:
            if module in self.names:
                self.running.append(self.names[module])

        def leave(module: torch.nn.Module, *_: Any) -> None:
            if module in self.names:
                self.running.pop()

        handles = (
            modules.register_module_forward_pre_hook(enter),
            modules.register_module_forward_hook(leave),
        )
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()


def record(
    target: Any,
    inputs: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    shared: Iterable[Any],
    parameters: Iterable[Any],
    *,
    kernels: bool,
) -> Record:
    """See `membill.audit.saved`."""
    is_module = isinstance(target, torch.nn.Module)
    names = {module: name for name, module in target.named_modules()} if is_module else {}
    stand_ins = references.kernels() if kernels else {}
    recorder = _Recorder(Kernels(stand_ins), names)
    with ExitStack() as stack:
        stack.enter_context(recorder.following())
        stack.enter_context(torch.enable_grad())
        stack.enter_context(saved_tensors_hooks(recorder.pack, lambda held: held.tensor))
        stack.enter_context(recorder.mode)
        output = target(*inputs, **kwargs)
    weights = [*parameters, *(target.parameters() if is_module else ())]
    tables = [*shared, *(target.buffers() if is_module else ())]
    left_out = set(map(_address, weights))
    origins = _origins(inputs, output)
    tabled = set(map(_address, tables))
    return Record(
        tuple(
            _storage(item, address in tabled, origins.get(address, ""))
            for address, item in recorder.kept().items()
            if address not in left_out
        ),
        str(torch.__version__),
    )


def _origins(inputs: tuple[Any, ...], output: Any) -> dict[int, str]:
    found = {_address(tensor): OUTPUT for tensor in _tensors(output)}
    for index, given in enumerate(inputs):
        found.update({_address(tensor): origin_of_input(index) for tensor in _tensors(given)})
    return found


def _tensors(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def _storage(item: _Saved, table: bool, origin: str) -> Storage:
    tensor = item.tensor
    whole = tensor.untyped_storage().nbytes()
    seen = tensor.numel() * tensor.element_size()
    return Storage(
        name=f"{item.module} {item.function}".strip(),
        needed_by=item.function,
        shape=tuple(tensor.shape) if whole == seen else (whole // tensor.element_size(),),
        dtype=_dtype(tensor),
        bytes=whole,
        table=table,
        origin=origin,
    )


def _dtype(tensor: torch.Tensor) -> str:
    """Its name; one for both formats of float8, e4m3 and e5m2."""
    return str(tensor.dtype).removeprefix("torch.").partition("_")[0]


def _address(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)
