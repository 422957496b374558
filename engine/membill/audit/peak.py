"""The memory of one training step in PyTorch: what is alive after each operation, and its peak.

Nothing is computed: tensors are fake. `watched` follows each storage from the operation that
makes it until it is freed, so that the peak is a list of tensors, each with a name. `tracked`
asks PyTorch's own MemTracker for its figure of the same step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from unittest.mock import patch

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.utils import clip_grad

from membill.audit import references
from membill.audit.building import defaults
from membill.audit.kernels import Kernels
from membill.audit.lives import BACKWARD, GRADIENT, Life, Moment, Watch, tensors_in

FORWARD, CLIP, UPDATE = "forward", "clip", "update"
PARAMETER, BUFFER, INPUT, STATE = "parameter", "buffer", "input", "state"
ACTIVATION, TEMPORARY = "activation", "temporary"
KINDS = {FORWARD: ACTIVATION, BACKWARD: TEMPORARY, CLIP: TEMPORARY, UPDATE: TEMPORARY}


@dataclass(frozen=True)
class Step:
    """One step: its moments in order, and every storage that was alive in it."""

    moments: tuple[Moment, ...]
    lives: tuple[Life, ...]

    @cached_property
    def at(self) -> int:
        """The first moment of the peak."""
        return max(range(len(self.moments)), key=lambda index: self.moments[index].bytes)

    @property
    def peak(self) -> int:
        """Bytes."""
        return self.moments[self.at].bytes

    def alive(self, moment: int) -> tuple[Life, ...]:
        """The storages alive at a moment, in the order in which they were made."""
        return tuple(
            life
            for life in self.lives
            if life.born <= moment and (life.died is None or moment < life.died)
        )

    def by_kind(self, moment: int) -> Mapping[str, int]:
        """Bytes alive at a moment, by kind."""
        total: dict[str, int] = {}
        for life in self.alive(moment):
            total[life.kind] = total.get(life.kind, 0) + life.bytes
        return total


@dataclass(frozen=True)
class Training:
    """A module, its inputs, and the rule that updates its parameters, one of torch.optim.

    clip: the largest norm of all gradients, or None. held: whether the module's output lives to
    the end of the step, as in `out = model(x); out.loss.backward()`, or its loss alone. The output
    is the loss, or begins with it.
    """

    module: torch.nn.Module
    inputs: tuple[Any, ...]
    rule: Any
    clip: float | None = None
    held: bool = True

    @property
    def device(self) -> Any:
        """Where the inputs are; what is elsewhere is not counted."""
        return tensors_in(self.inputs)[0].device

    def step(self, enter: Callable[[str], None] = lambda phase: None) -> None:
        """Forward, backward, clip, update; then gradients are dropped. enter: told each phase."""
        enter(FORWARD)
        output = self.module(*self.inputs)
        root = output if isinstance(output, torch.Tensor) else output[0]
        if not self.held:
            del output
        enter(BACKWARD)
        root.backward()
        if self.clip is not None:
            enter(CLIP)
            # As on a GPU, of which PyTorch knows that it takes all gradients at once.
            with patch(f"{clip_grad.__name__}._device_has_foreach_support", lambda device: True):
                clip_grad.clip_grad_norm_(self.module.parameters(), self.clip, foreach=True)
        enter(UPDATE)
        self.rule.step()
        self.rule.zero_grad(set_to_none=True)


@contextmanager
def training(
    factory: Callable[[], tuple[Any, ...]],
    rule: Callable[[Iterable[Any]], Any],
    *,
    dtype: str = "bfloat16",
    device: str = "meta",
    kernels: bool = True,
    clip: float | None = None,
    held: bool = True,
) -> Iterator[Training]:
    """A training ready for its second step, when the rule has its states.

    factory: returns the module, whose output is a loss or has one, and its inputs.
    rule: makes the update rule from the parameters; ask it for `foreach=True` or not, for it
    does not recognise fake tensors as fit for what it does by default.
    kernels: stand in for a GPU's fused kernels, which takes the device `meta`.
    """
    with ExitStack() as stack:
        stack.enter_context(FakeTensorMode())
        with defaults(dtype, device):
            module, inputs, *_ = factory()
        stack.enter_context(Kernels(references.kernels() if kernels else {}))
        made = Training(module, inputs, rule(module.parameters()), clip, held)
        _update(made)
        yield made


def _update(made: Training) -> None:
    """One update by gradients out of nowhere, in which the rule makes its states."""
    for parameter in made.module.parameters():
        if parameter.requires_grad:
            parameter.grad = torch.empty_like(parameter)
    made.rule.step()
    made.rule.zero_grad(set_to_none=True)


def watched(made: Training) -> Step:
    """One step, storage by storage."""
    watch = Watch(made.module, made.device, KINDS)
    watch.given(PARAMETER, list(made.module.parameters()))
    watch.given(BUFFER, list(made.module.buffers()))
    watch.given(INPUT, made.inputs)
    watch.given(STATE, list(made.rule.state.values()))

    def enter(phase: str) -> None:
        watch.phase = phase

    with watch.following(), watch:
        made.step(enter)
    return Step(tuple(watch.moments), tuple(watch.lives))


def tracked(made: Training) -> Mapping[str, int]:
    """The peak of one step as PyTorch's MemTracker has it, by its own names of kinds; `Total`."""
    from torch.distributed._tools.mem_tracker import MemTracker

    tracker = MemTracker()
    tracker.track_external(made.module, made.rule, *tensors_in(made.inputs))
    with tracker:
        made.step()
    peak = tracker.get_tracker_snapshot("peak")[made.device]
    return {getattr(kind, "value", kind): size for kind, size in peak.items()}


__all__ = [
    "BACKWARD",
    "GRADIENT",
    "Life",
    "Moment",
    "Step",
    "Training",
    "tracked",
    "training",
    "watched",
]
