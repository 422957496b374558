"""A ledger beside a record: each storage of one with its equal in the other. No tolerance."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from membill.audit.storage import OUTPUT, Record, Storage, origin_of_input
from membill.dtypes import COMPUTE
from membill.formula import Formula
from membill.ledger import Ledger, Row
from membill.tables import Table
from membill.tensor import Role


@dataclass(frozen=True)
class Pair:
    """A storage of the ledger and its equal in PyTorch; None where a side has none."""

    ledger: Storage | None
    torch: Storage | None

    @property
    def equal(self) -> bool:
        """Whether both sides have it."""
        return self.ledger is not None and self.torch is not None


@dataclass(frozen=True)
class Comparison:
    """Both sides, storage by storage: those of the ledger in its order, then PyTorch's extras."""

    subject: str
    pairs: tuple[Pair, ...]

    @property
    def equal(self) -> bool:
        """Whether each storage has its equal: the same bytes, the same count."""
        return all(pair.equal for pair in self.pairs)

    @property
    def missing(self) -> tuple[Storage, ...]:
        """What the ledger has and PyTorch does not keep."""
        return tuple(pair.ledger for pair in self.pairs if pair.ledger and not pair.torch)

    @property
    def extra(self) -> tuple[Storage, ...]:
        """What PyTorch keeps and the ledger lacks."""
        return tuple(pair.torch for pair in self.pairs if pair.torch and not pair.ledger)

    @property
    def bytes(self) -> tuple[int, int]:
        """Bytes of the ledger's side and of PyTorch's."""
        ledger = sum(pair.ledger.bytes for pair in self.pairs if pair.ledger)
        return ledger, sum(pair.torch.bytes for pair in self.pairs if pair.torch)

    def message(self) -> str:
        """What differs, one line a storage with op, tensor and bytes; or that all is equal."""
        ledger, torch = self.bytes
        if self.equal:
            return f"{self.subject}: equal to PyTorch, {len(self.pairs)} storages, {ledger:,} B"
        lines = [f"{self.subject}: the ledger has {ledger:,} B, PyTorch keeps {torch:,} B"]
        lines += [
            f"{item.needed_by} needs {item}: PyTorch keeps no such storage" for item in self.missing
        ]
        lines += [f"PyTorch keeps {item}: the ledger has no such row" for item in self.extra]
        return "\n  ".join(lines)

    def table(self) -> Table:
        """The side-by-side table: ledger row, PyTorch's storage, bytes, equal or not."""
        return Table(
            ("ledger row", "shape", "PyTorch storage", "shape", "dtype", "bytes", "equal"),
            tuple(_cells(pair) for pair in self.pairs),
        )


def _cells(pair: Pair) -> tuple[str, ...]:
    ledger, torch = pair.ledger, pair.torch
    one = ledger or torch
    assert one is not None
    return (
        ledger.name if ledger else "missing",
        str(ledger.shape) if ledger else "",
        torch.name if torch else "missing",
        str(torch.shape) if torch else "",
        one.dtype,
        f"{one.bytes:,}",
        "yes" if pair.equal else "NO",
    )


def compare(
    subject: str, ledger: Iterable[Storage], record: Record, *, origins: bool = False
) -> Comparison:
    """Match the storages of both sides as multisets of (dtype, bytes).

    A storage of one dtype and size holds one number of entries, whatever views there are of it,
    so shapes are shown and not compared. origins: an argument or the result must also be just
    that on the other side, which tells an op's input from an output of the same size.
    """

    def key(storage: Storage) -> Hashable:
        origin = storage.origin if origins else ""
        return storage.table, storage.dtype, storage.bytes, origin

    return Comparison(subject, _matched(tuple(ledger), record.storages, key))


def _matched(
    ledger: Sequence[Storage], torch: Sequence[Storage], key: Callable[[Storage], Hashable]
) -> tuple[Pair, ...]:
    """Pairs of one key each. Which of several like storages are paired only decides what is shown.

    First what stands in the same order on both sides, so that what one side lacks is told by its
    neighbours; then the rest. Both from the end, since an op saves its result after its inputs.
    """
    partner = _in_order([key(item) for item in ledger], [key(item) for item in torch])
    free = [item for place, item in enumerate(torch) if place not in partner.values()]
    pairs = []
    for place in reversed(range(len(ledger))):
        item = torch[partner[place]] if place in partner else None
        if item is None:
            like = [other for other in free if key(other) == key(ledger[place])]
            item = like[-1] if like else None
            free = [other for other in free if other is not item]
        pairs.append(Pair(ledger[place], item))
    return (*reversed(pairs), *(Pair(None, item) for item in free))


def _in_order(left: Sequence[Hashable], right: Sequence[Hashable]) -> dict[int, int]:
    """Places of equal items, left to right, in runs that follow each other on both sides."""
    runs = SequenceMatcher(None, left[::-1], right[::-1], autojunk=False).get_matching_blocks()
    return {
        len(left) - 1 - run.a - step: len(right) - 1 - run.b - step
        for run in runs
        for step in range(run.size)
    }


def expected(
    ledger: Ledger,
    dims: Mapping[str, int],
    compute: str,
    *,
    inputs: Iterable[str] = (),
    output: str = "",
) -> tuple[Storage, ...]:
    """What a ledger says is kept, tables included, at concrete dimensions by symbol name.

    compute: PyTorch's name of the compute dtype. inputs, output: labels of the tensors that go
    in and come out. Raises InputError for a missing dimension.
    """
    origins = {label: origin_of_input(index) for index, label in enumerate(inputs)}
    if output not in origins:
        origins[output] = OUTPUT
    return tuple(
        Storage(
            name=row.tensor,
            needed_by=row.path,
            shape=_shape(row, dims),
            dtype=compute if row.dtype == COMPUTE else row.dtype.name,
            bytes=row.bytes(**dims),
            table=row.role is Role.TABLE,
            origin=origins.get(row.tensor, ""),
        )
        for row in (*ledger.rows, *ledger.tables)
    )


def _shape(row: Row, dims: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(Formula(axis, "entries", row.bytes.definitions)(**dims) for axis in row.shape)
