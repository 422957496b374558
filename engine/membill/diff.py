"""What sets one ledger apart from another: rows that go, rows that come, rows that change."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import sympy

from membill.formula import Formula
from membill.ledger import Ledger, Row
from membill.symbols import T


class Kind(Enum):
    """What happened to a storage between two ledgers."""

    GONE = "gone"
    NEW = "new"
    RESIZED = "other size"
    REASONED = "other reason"


@dataclass(frozen=True)
class Change:
    """One storage that the two ledgers do not agree on; at least one of the rows is there."""

    before: Row | None
    after: Row | None

    @property
    def kind(self) -> Kind:
        """Gone, new, of another size, or kept for another reason."""
        if self.after is None:
            return Kind.GONE
        if self.before is None:
            return Kind.NEW
        same_size = self.before.bytes.expr == self.after.bytes.expr
        return Kind.REASONED if same_size else Kind.RESIZED

    @property
    def row(self) -> Row:
        """The row that tells the reason: the later one, or the earlier one of what is gone."""
        row = self.after or self.before
        assert row is not None, "a change has a row on at least one side"
        return row


@dataclass(frozen=True)
class Diff:
    """The changes from one ledger to another, and by how many bytes the total moved."""

    changes: tuple[Change, ...]
    total: Formula

    def of(self, kind: Kind) -> tuple[Change, ...]:
        """The changes of one kind, in the order of the ledgers."""
        return tuple(change for change in self.changes if change.kind is kind)


def diff(before: Ledger, after: Ledger) -> Diff:
    """Compare what two ledgers keep, storage by storage; a storage is known by its name.

    What goes or changes stands in the order of `before`, what is new in that of `after`.
    """
    old = {row.tensor: row for row in (*before.rows, *before.tables)}
    new = {row.tensor: row for row in (*after.rows, *after.tables)}
    pairs = [(old.get(name), new.get(name)) for name in dict.fromkeys((*old, *new))]
    return Diff(
        tuple(Change(was, now) for was, now in pairs if not _alike(was, now)),
        after.total() + before.total() * -1,
    )


def _alike(was: Row | None, now: Row | None) -> bool:
    """Whether both are there, of one size and for the same reasons."""
    if was is None or now is None:
        return False
    return (was.bytes.expr, was.needed_by, was.why) == (now.bytes.expr, now.needed_by, now.why)


def saves_nothing_of_squares(before: Ledger, rerun: Formula) -> str:
    """In words, that a plan runs again only FLOPs of T² where no bytes of T² are kept anyway.

    before: what is kept without recomputation. rerun: the FLOPs that are run again. "" if the
    plan runs anything else again, or if a tensor with two T axes is there to be dropped.
    """
    squares = all(sympy.degree(term, T) >= 2 for term in sympy.Add.make_args(rerun.expr))
    kept = any(sum(T in axis.free_symbols for axis in row.shape) > 1 for row in before.rows)
    if kept or not squares:
        return ""
    return "nothing of T²: without recomputation, too, no tensor with two T axes is kept"
