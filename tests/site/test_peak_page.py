"""The page of the peak: its chart, and the conditions under which a moment is the largest."""

import re

import membill
from membill import render
from membill.render import charts, peak
from membill.units import gb

LLAMA = {"b": 1, "T": 8192, "recipe": "adam-bf16"}


def found() -> membill.peak.Peak:
    return membill.model("llama-3-8b", norm="hugging-face").peak(**LLAMA)


def test_areas_lie_on_top_of_each_other() -> None:
    items = [{"a": 10, "none": 0, "b": 30}, {"a": 20, "none": 0, "b": 80}]
    drawn = charts.areas(items, "alt", marks={0: "begin"}, unit="B")
    first, second = re.findall(r'<polygon points="([^"]*)"', drawn)
    tops = [first.split()[:2], second.split()[:2]]
    assert second.split()[2:] == first.split()[1::-1], "one begins where the other ends"
    heights = [[float(point.split(",")[1]) for point in top] for top in tops]
    assert heights[0][1] < heights[0][0]
    assert heights[1][1] == charts._TOP, "100 B, at the top of the axis"
    assert "begin" in drawn
    assert "none" not in drawn


def test_groups_add_up_to_each_point() -> None:
    for point, sizes in peak.step(found()):
        assert sum(sizes.values()) == point.bytes


def test_moments_show_the_peak_once() -> None:
    moments = peak.moments(found())
    assert [each.bytes for each in moments if each.largest] == [found().bytes]
    for each in moments:
        size = sum(formula(**found().bill.values) for formula in each.groups.values())
        assert size == each.bytes


def test_what_is_overtaken_when() -> None:
    step = found()
    most = step.event
    for other, conditions in peak.overtakes(step, ["V", "T"]):
        for each in conditions:
            assert each.above, "all of these moments grow more slowly than the peak"
            beyond = max(int(each.bound) + 1, 1)
            values = {**step.bill.values, each.letter: beyond}
            assert most.total(**values) > other.total(**values)


def test_the_page_states_the_figures(rendered: render.Site) -> None:
    page = rendered.pages["peak.md"]
    assert f"{found().bytes:,} B" in page
    assert gb(found().bytes) in page
