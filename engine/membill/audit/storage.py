"""A storage with its bytes, as PyTorch or a ledger has it; what both sides are compared by."""

from __future__ import annotations

from dataclasses import dataclass

OUTPUT = "output"


@dataclass(frozen=True)
class Storage:
    """One block of memory that is kept for backward.

    name: what it is. To the ledger the tensor's label; to PyTorch the module and function that
    saved it. needed_by: the ledger's path of the op that needs it, or PyTorch's function.
    shape, dtype: of the tensor; bytes: of its whole storage.
    table: whether all layers share it. origin: "input 0" or "output" if the storage is that of
    an argument or of the result, else empty.
    """

    name: str
    needed_by: str
    shape: tuple[int, ...]
    dtype: str
    bytes: int
    table: bool = False
    origin: str = ""

    def __str__(self) -> str:
        origin = f", the {self.origin}" if self.origin and self.origin != self.name else ""
        return f"{self.name}{origin}, {self.shape} {self.dtype}, {self.bytes:,} B"


@dataclass(frozen=True)
class Record:
    """What autograd saved in one run, in the order in which it was saved first."""

    storages: tuple[Storage, ...]
    torch_version: str

    @property
    def bytes(self) -> int:
        """Bytes of all storages, shared tables included."""
        return sum(storage.bytes for storage in self.storages)


def origin_of_input(index: int) -> str:
    """The origin of a storage that belongs to the positional argument `index`."""
    return f"input {index}"
