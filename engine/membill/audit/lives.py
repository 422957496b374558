"""The watch: which storages are alive after each operation of PyTorch, and what made them."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.nn.modules import module as modules
from torch.utils import _pytree as tree
from torch.utils._python_dispatch import TorchDispatchMode

BACKWARD, GRADIENT = "backward", "gradient"


@dataclass(frozen=True)
class Moment:
    """The state right after an operation. bytes: of all storages alive."""

    phase: str
    module: str
    op: str
    bytes: int


@dataclass(frozen=True)
class Life:
    """A storage. It is alive at the moments `born` to `died - 1`, or to the end.

    kind: what it is in the end; a parameter's gradient is one from birth. phase, module, op:
    what made it, empty if it was there before. shape, dtype: of the first tensor on it.
    """

    kind: str
    phase: str
    module: str
    op: str
    shape: tuple[int, ...]
    dtype: str
    bytes: int
    born: int
    died: int | None = None


class Watch(TorchDispatchMode):
    """Follows the storages on one device while it is active.

    phase: told by who runs the operations; backward must be called BACKWARD. kinds: what a
    storage is that is made in a phase. module: to say where, and whose gradients are gradients.
    """

    def __init__(self, module: torch.nn.Module, device: Any, kinds: Mapping[str, str]) -> None:
        super().__init__()
        self.module, self.device, self.kinds = module, device, kinds
        self.phase = ""
        self.bytes = 0
        self.moments: list[Moment] = []
        self.lives: list[Life] = []
        self._known: dict[int, tuple[int, Any]] = {}
        self._running: list[str] = []
        self._made_by: dict[int, str] = {}

    def given(self, kind: str, values: Any) -> None:
        """Count what is there before anything runs."""
        self._add(kind, ("", "", ""), values)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if func is not torch.ops.prim.device.default:  # a question, not an operation
            source = (self.phase, self._where(), str(func.overloadpacket.__name__))
            self._add(self.kinds[self.phase], source, result)
            self.moments.append(Moment(*source, self.bytes))
        return result

    def _add(self, kind: str, source: tuple[str, str, str], values: Any) -> None:
        for tensor in tensors_in(values):
            storage = tensor.untyped_storage()
            if tensor.device == self.device and storage._cdata not in self._known:
                shape, dtype = tuple(tensor.shape), str(tensor.dtype).removeprefix("torch.")
                size, born = storage.nbytes(), len(self.moments)
                self._begin(storage, Life(kind, *source, shape, dtype, size, born))

    def _begin(self, storage: Any, life: Life) -> None:
        place, address = len(self.lives), storage._cdata

        def freed(_: Any) -> None:
            del self._known[address]
            self.bytes -= life.bytes
            self.lives[place] = replace(self.lives[place], died=len(self.moments))

        self._known[address] = (place, weakref.ref(storage, freed))
        self.lives.append(life)
        self.bytes += life.bytes

    def _where(self) -> str:
        """The module that runs, or in backward the one in which the running node was made."""
        if self.phase != BACKWARD:
            path = self._running[-1] if self._running else ""
            # A node is numbered right before its forward runs.
            self._made_by.setdefault(torch.autograd._get_sequence_nr() - 1, path)
            return path
        node = torch._C._current_autograd_node()
        if node is None:
            return ""
        return f"{self._made_by.get(node._sequence_nr(), '')} {node.name()}".strip()

    def _graded(self, parameter: Any) -> None:
        place, _ = self._known[parameter.grad.untyped_storage()._cdata]
        self.lives[place] = replace(self.lives[place], kind=GRADIENT)

    @contextmanager
    def following(self) -> Iterator[None]:
        """Know which submodule runs, and which storages become gradients."""
        names = {module: name for name, module in self.module.named_modules()}

        def enter(module: torch.nn.Module, _: Any) -> None:
            self._running.append(names.get(module, ""))

        def leave(*_: Any) -> None:
            self._running.pop()

        handles = [
            modules.register_module_forward_pre_hook(enter),
            modules.register_module_forward_hook(leave),
        ]
        handles += [
            parameter.register_post_accumulate_grad_hook(self._graded)
            for parameter in self.module.parameters()
            if parameter.requires_grad
        ]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()


def tensors_in(values: Any) -> list[Any]:
    """The tensors in a structure of tuples, lists and dictionaries."""
    leaves: Iterable[Any] = tree.tree_leaves(values)
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
