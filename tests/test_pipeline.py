"""In-flight formulas against the schedules themselves, played stage by stage."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import pytest
import sympy

from membill import registry
from membill.formula import Formula
from membill.pipeline import Schedule, stage, stages, worst
from membill.symbols import L, T, b, d, i, m, p, v

SCHEDULES = registry.everything(Schedule)
UNIT = Formula(sympy.Integer(1), "bytes")
LAYER = Formula(T * d, "bytes")


@dataclass(frozen=True)
class Pass:
    """One pass of one micro-batch over one chunk: forward F, backward B, or, apart, weights W."""

    kind: str
    chunk: int
    batch: int


def gpipe(rank: int, ranks: int, batches: int, chunks: int) -> Iterator[Pass]:
    yield from (Pass("F", 0, batch) for batch in range(batches))
    yield from (Pass("B", 0, batch) for batch in range(batches))


def one_f_one_b(rank: int, ranks: int, batches: int, chunks: int) -> Iterator[Pass]:
    forward = iter([Pass("F", 0, batch) for batch in range(batches)])
    backward = iter([Pass("B", 0, batch) for batch in range(batches)])
    yield from _alternate(forward, backward, min(batches, ranks - rank - 1), batches)


def interleaved(rank: int, ranks: int, batches: int, chunks: int) -> Iterator[Pass]:
    """Chunks take turns, `ranks` micro-batches at a time."""
    turns = [
        (chunk, first + number)
        for first in range(0, batches, ranks)
        for chunk in range(chunks)
        for number in range(ranks)
    ]
    forward = iter([Pass("F", chunk, batch) for chunk, batch in turns])
    backward = iter([Pass("B", chunks - 1 - chunk, batch) for chunk, batch in turns])
    warm_up = min(len(turns), 2 * (ranks - rank - 1) + (chunks - 1) * ranks)
    yield from _alternate(forward, backward, warm_up, len(turns))


def zero_bubble(rank: int, ranks: int, batches: int, chunks: int) -> Iterator[Pass]:
    """1F1B, whose gradients of weights wait until more of them are due than `rank`."""
    due: list[int] = []
    for each in one_f_one_b(rank, ranks, batches, chunks):
        yield each
        if each.kind == "B":
            due.append(each.batch)
            if len(due) > rank:
                yield Pass("W", 0, due.pop(0))
    yield from (Pass("W", 0, batch) for batch in due)


def _alternate(
    forward: Iterator[Pass], backward: Iterator[Pass], warm_up: int, passes: int
) -> Iterator[Pass]:
    yield from (next(forward) for _ in range(warm_up))
    for _ in range(passes - warm_up):
        yield next(forward)
        yield next(backward)
    yield from backward


PLAYED = {"gpipe": gpipe, "1f1b": one_f_one_b, "interleaved": interleaved, "zb-h1": zero_bubble}
LAST_PASS = {"zb-h1": "W"}


def orders(name: str, ranks: int, batches: int, chunks: int) -> list[list[Pass]]:
    return [list(PLAYED[name](rank, ranks, batches, chunks)) for rank in range(ranks)]


def runs_to_the_end(order: list[list[Pass]], ranks: int, chunks: int) -> bool:
    """Whether no stage waits for ever: each pass starts after those whose results it takes."""
    done: set[tuple[str, int, int]] = set()
    queues = [list(reversed(passes)) for passes in order]
    final = ranks * chunks - 1

    def ready(rank: int, each: Pass) -> bool:
        place = each.chunk * ranks + rank
        if each.kind == "F":
            return place == 0 or ("F", place - 1, each.batch) in done
        if each.kind == "W":
            return ("B", place, each.batch) in done
        above = place == final or ("B", place + 1, each.batch) in done
        return above and ("F", place, each.batch) in done

    moved = True
    while moved:
        moved = False
        for rank, queue in enumerate(queues):
            while queue and ready(rank, queue[-1]):
                each = queue.pop()
                done.add((each.kind, each.chunk * ranks + rank, each.batch))
                moved = True
    return not any(queues)


def held_over_time(passes: list[Pass], release: str) -> Iterator[Counter[int]]:
    """Micro-batches whose activations a stage holds, by chunk, after each forward pass."""
    held: Counter[int] = Counter()
    for each in passes:
        if each.kind == "F":
            held[each.chunk] += 1
            yield held.copy()
        elif each.kind == release:
            held[each.chunk] -= 1


SIZES = [
    (ranks, batches)
    for ranks in (1, 2, 3, 5)
    for batches in sorted({1, ranks, ranks + 1, 2 * ranks + 1, max(1, ranks - 1)})
]
CASES = [
    *((name, *size, 1) for name in ("gpipe", "1f1b", "zb-h1") for size in SIZES),
    *(
        ("interleaved", ranks, ranks * rounds, chunks)
        for ranks in (2, 3, 4)  # one stage is first and last, and has no peak of both at once
        for rounds in (1, 2, 3)
        for chunks in (2, 3)
    ),
]


@pytest.mark.parametrize(("name", "ranks", "batches", "chunks"), CASES)
def test_a_stage_holds_what_the_schedule_does_when_played(
    name: str, ranks: int, batches: int, chunks: int
) -> None:
    """Layers of one byte; what stands before them of 1000, after them of a million."""
    order = orders(name, ranks, batches, chunks)
    assert runs_to_the_end(order, ranks, chunks)
    found = stages(
        SCHEDULES[name],
        UNIT,
        [chunks] * ranks,
        micro_batches=batches,
        chunks=chunks,
        before=UNIT * 10**3,
        after=UNIT * 10**6,
    )
    for rank, (passes, derived) in enumerate(zip(order, found, strict=True)):
        times = list(held_over_time(passes, LAST_PASS.get(name, "B")))
        assert len(times) == batches * chunks
        assert derived.in_flight == Fraction(max(held.total() for held in times), chunks)
        before = 10**3 * (rank == 0)
        # ZB-H1 puts off the weights' part of what comes after the layers, too; it is not counted.
        after = 10**6 * (rank == ranks - 1 and name != "zb-h1")
        most = max(held.total() + before * held[0] + after * held[chunks - 1] for held in times)
        counted = derived.bytes() - 10**6 * (rank == ranks - 1 and name == "zb-h1")
        assert counted == most


def settings_of(name: str) -> dict[sympy.Symbol, int]:
    return {p: 4, m: 8, **({v: 2} if SCHEDULES[name].chunked else {})}


@pytest.mark.parametrize("name", SCHEDULES)
def test_even_stages_are_the_symbolic_stage_at_their_index(name: str) -> None:
    given = settings_of(name)
    even = stages(SCHEDULES[name], LAYER, [6] * 4, micro_batches=given[m], chunks=given.get(v, 1))
    for index, found in enumerate(even):
        general = stage(SCHEDULES[name], LAYER, index=index)
        assert general.bytes.subs({**given, L: 24}).expr == found.bytes.expr
        assert general.in_flight.subs(given) == found.in_flight
        assert stage(SCHEDULES[name], LAYER).in_flight.subs({**given, i: index}) == found.in_flight


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_first_stage_is_among_the_worst_of_even_ones(name: str) -> None:
    given = settings_of(name)
    even = stages(SCHEDULES[name], LAYER, [6] * 4, micro_batches=given[m], chunks=given.get(v, 1))
    assert worst(even, T=8, d=12).index == 0


def test_uneven_stages_of_1f1b() -> None:
    found = stages(SCHEDULES["1f1b"], UNIT, [1, 2, 2, 3], micro_batches=8)
    assert [each.bytes() for each in found] == [1 * 4, 2 * 3, 2 * 2, 3 * 1]
    assert worst(found).index == 1


def test_embedding_on_the_first_and_head_on_the_last_stage_alone() -> None:
    before, after = Formula(T * b, "bytes"), Formula(T * d, "bytes")
    found = stages(SCHEDULES["1f1b"], UNIT, [1, 1, 1], micro_batches=8, before=before, after=after)
    assert [each.bytes.expr for each in found] == [3 + 3 * T * b, 2, 1 + T * d]
    [alone] = stages(SCHEDULES["1f1b"], UNIT, [5], micro_batches=8, before=before, after=after)
    assert alone.bytes.expr == 5 + T * b + T * d


def test_conditions_of_a_stage() -> None:
    said = {
        name: [str(each) for each in stage(schedule, UNIT).bytes.conditions]
        for name, schedule in SCHEDULES.items()
    }
    assert said.pop("interleaved") == ["vp | L", "p | m"]
    assert set(map(tuple, said.values())) == {("p | L",)}
