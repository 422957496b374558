"""Labels beside points: where there is room, and nowhere else."""

import pytest

from membill.render import placing
from membill.render.placing import Box, Room

FRAME = Box(0, 0, 400, 300)


@pytest.mark.parametrize(
    ("start", "end", "crossed"),
    [
        ((0, 0), (100, 100), True),
        ((0, 50), (100, 50), True),
        ((50, 0), (50, 100), True),
        ((0, 0), (100, 0), False),
        ((0, 0), (39, 100), False),
        ((61, 0), (100, 100), False),
        ((0, 70), (100, 61), False),
        ((50, 61), (50, 100), False),
    ],
)
def test_what_runs_through_a_box(start: placing.Point, end: placing.Point, crossed: bool) -> None:
    assert Box(40, 40, 60, 60).crossed(start, end) == crossed


def test_how_far_a_point_is() -> None:
    box = Box(10, 10, 20, 20)
    assert [box.away(point) for point in ((15, 15), (15, 25), (23, 24))] == [0, 5, 5]


def test_a_label_keeps_off_lines_labels_and_the_edge() -> None:
    room = Room(FRAME, [[(0.0, 100.0), (400.0, 100.0)]])
    for _ in range(12):
        room.label(200, 100, "label")
    assert 1 < len(room.taken) < 12
    for at, box in enumerate(room.taken):
        assert not any(map(box.meets, room.taken[:at]))
        assert not box.crossed((0, 100), (400, 100))
    assert room.label(399, 1, "label")[0].count('class="end"') == 1
    assert room.label(200, 200, "m" * 60) == []


def test_a_label_is_nearest_to_its_own_point() -> None:
    room = Room(FRAME, [[(0.0, 300.0), (400.0, 0.0)]])
    for x, y in ((200, 150), (190, 140)):
        room.take(x, y, 5)
    for at, point in enumerate(room.points):
        room.label(*point, "label")
        assert room.taken[2 + at].away(point) == min(map(room.taken[2 + at].away, room.points))


def test_words_stand_in_one_row_if_they_have_room() -> None:
    words = [(0.0, "forward", ""), (100.0, "backward", ""), (130.0, "update", ""), (300.0, "x", "")]
    assert [row for *_, row in placing.rows(words)] == [0, 0, 1, 0]
