"""What happens in the parts of models during a step, for the calculator, as changes of accounts.

A moment differs from the one before it by few storages, and much of what happens in one part
happens in others too. So a moment is a row of what has changed, rows of an inner scope are a node,
these nodes in an outer scope are another, and each row and node stands in its table once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from membill.alive import Key, Storages
from membill.backward import Moment
from membill.moments import Simulated, simulated, sizes_of
from membill.parts import Part
from membill.plans import Plan
from membill.render.functions import Functions, Table

ACCOUNTS = ("kept", "tables", "working", "made", "latest")
"""Of a moment; a change is written as twice the place of one, and one more if it gets less.

tables: what the first of such parts keeps besides.
"""

CODES = 2 * len(ACCOUNTS)

DIGITS = "".join(chr(each) for each in range(ord("!"), ord("~") + 1) if chr(each) not in '"\\<>')
"""What numbers are written with: all that is visible and stands for itself within a script."""


@dataclass(frozen=True)
class Steps:
    """Steps as data, with the tables that they refer to.

    policies: a plan for each. meshes: a plan for each choice of switches, all degrees symbols.
    """

    functions: Functions
    policies: Sequence[Plan]
    meshes: Sequence[Plan]
    keys: Table = field(default_factory=Table)
    paths: Table = field(default_factory=Table)
    sums: Table = field(default_factory=Table)
    rows: Table = field(default_factory=Table)
    nodes: Table = field(default_factory=Table)
    ways: Table = field(default_factory=Table)
    known: dict[Key, int] = field(default_factory=dict)
    found: dict[Simulated, int] = field(default_factory=dict)

    def of(self, part: Part) -> list[int]:
        """The places of sums that a part has in any case, and of its way under each policy."""
        one = simulated(part, self.policies[0])
        sums = (one.made, one.held, one.batch, one.output)
        ways = (self._way(simulated(part, run)) for run in self.policies)
        return [*map(self._sum, sums), *ways]

    @property
    def data(self) -> Mapping[str, Any]:
        """All tables; a node consists of rows and, numbered after all rows, of other nodes."""
        rows = self.rows.rows

        def numbered(places: Iterable[int]) -> list[int]:
            return [~place if place < 0 else len(rows) + place for place in places]

        return {
            "digits": DIGITS,
            "accounts": ACCOUNTS,
            "keys": self.keys.rows,
            "paths": self.paths.rows,
            "sums": packed(self.sums.rows),
            "rows": packed(rows),
            "nodes": packed([numbered(node) for node in self.nodes.rows]),
            "ways": packed([[kept, *numbered(nodes)] for kept, *nodes in self.ways.rows]),
        }

    def _way(self, one: Simulated) -> int:
        """The place of what is kept, and of the nodes of backward and forward.

        Most parts are those of other models too, and ends are run in one way under any policy.
        """
        if one not in self.found:
            nodes = (self._node(one.backward), self._node(one.forward))
            self.found[one] = self.ways.of((self._sum(one.kept), *nodes))
        return self.found[one]

    def _node(self, moments: Sequence[Moment]) -> int:
        rows = [*self._rows(moments)]
        return self._joined(
            self._joined(self._joined(place for _, place in inner) for _, inner in _by(outer, 2))
            for _, outer in _by(rows, 1)
        )

    def _joined(self, places: Iterable[int]) -> int:
        """The place of a node of these; of a single one, its own. Rows have places below 0."""
        found = [*places]
        return found[0] if len(found) == 1 else self.nodes.of(tuple(found))

    def _rows(self, moments: Iterable[Moment]) -> Iterator[tuple[str, int]]:
        """The path of each moment, and the place of the row of what has changed."""
        before = [Storages() for _ in ACCOUNTS]
        for each in moments:
            now = [each.kept, each.tables, each.working, each.made, each.latest]
            changes = (
                CODES * key + 2 * at + less
                for at, (old, new) in enumerate(zip(before, now, strict=True))
                if old is not new
                for less, key in self._changes(old, new)
            )
            place = self.paths.of((each.path, int(each.again)))
            yield each.path, ~self.rows.of((place, *changes))
            before = now

    def _changes(self, old: Storages, new: Storages) -> list[tuple[bool, int]]:
        """The places of what there is more of, then of what there is less of, in order."""
        more = {key: number - old.get(key, 0) for key, number in new.items()}
        gone = {key: -number for key, number in old.items() if key not in new}
        changed = [(key, number) for key, number in (more | gone).items() if number]
        self._learn(key for key, _ in changed)
        return sorted(
            (number < 0, self._key(key)) for key, number in changed for _ in range(abs(number))
        )

    def _sum(self, storages: Storages) -> int:
        return self.sums.of(self._keys(storages))

    def _keys(self, storages: Storages) -> tuple[int, ...]:
        self._learn(storages)
        return tuple(sorted(map(self._key, storages.elements())))

    def _learn(self, keys: Iterable[Key]) -> None:
        """Give new keys their places. They come from sets, so that their own order is no order."""
        new = [key for key in keys if key not in self.known]
        for key in sorted(new, key=str) if new else ():
            self._key(key)

    def _key(self, key: Key) -> int:
        """The place of what a storage takes under each choice of switches."""
        if key not in self.known:
            sizes = (sizes_of([key], run)[key] for run in self.meshes)
            self.known[key] = self.keys.of(tuple(map(self.functions.of, sizes)))
        return self.known[key]


def _by(
    rows: Iterable[tuple[str, int]], depth: int
) -> Iterator[tuple[str, Iterator[tuple[str, int]]]]:
    """Rows that follow each other in one scope."""
    return groupby(rows, key=lambda row: ".".join(row[0].split(".")[:depth]))


def packed(rows: Sequence[Sequence[int]]) -> Mapping[str, Any]:
    """Rows of numbers as text: rows with a space between, numbers of as many digits each."""
    base = len(DIGITS)
    most = max((each for row in rows for each in row), default=0)
    width = 1
    while base**width <= most:
        width += 1

    def written(number: int) -> str:
        return "".join(DIGITS[number // base**at % base] for at in reversed(range(width)))

    return {"width": width, "text": " ".join("".join(map(written, row)) for row in rows)}
