"""How many sequences a device can serve: what the weights leave is divided among their caches."""

from __future__ import annotations

from dataclasses import dataclass

from membill import registry
from membill.cache import CacheBill
from membill.errors import InputError
from membill.formats import Format, weight_bytes


@dataclass(frozen=True)
class Served:
    """A device's memory, in bytes, as weights and caches of sequences share it.

    weights: of the model on the device. sequence: that one sequence takes of the cache.
    """

    memory: int
    weights: int
    sequence: int

    @property
    def free(self) -> int:
        """Bytes that the weights leave; 0 where they do not fit."""
        return max(0, self.memory - self.weights)

    @property
    def sequences(self) -> int:
        """How many sequences fit; 0 if none does."""
        return self.free // self.sequence


def served(bill: CacheBill, memory: int, weights: str = "bfloat16") -> Served:
    """How many of the bill's sequences fit on each device of its mesh.

    memory: bytes of one device. weights: the name of their format. Raises InputError for a memory
    that is not a count, an unknown format, and a model that caches nothing.
    """
    if not isinstance(memory, int) or isinstance(memory, bool) or memory <= 0:
        raise InputError(f"memory = {memory!r}: give the bytes of one device, an integer > 0")
    given = registry.find(Format, weights)
    if bill.total.expr == 0:
        raise InputError(f"model {bill.model.name!r} caches nothing: no number of sequences fills")
    held = bill.size(weight_bytes(bill.model, given, bill.plan, bill.values))
    return Served(memory, held, bill.size(bill.sequence))
