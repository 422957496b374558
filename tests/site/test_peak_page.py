"""The page of the peak: its chart, and the conditions under which a moment is the largest."""

import re
from pathlib import Path

import pytest

import membill
from membill import registry, render
from membill.measured import Measured
from membill.render import axes, charts, peak
from membill.units import gb

LLAMA = {"b": 1, "T": 8192}


def found() -> membill.peak.Peak:
    return membill.model("llama-3-8b").peak(**LLAMA)


def test_areas_lie_on_top_of_each_other() -> None:
    items = [{"a": 10, "none": 0, "b": 30}, {"a": 20, "none": 0, "b": 80}]
    drawn = charts.areas(items, "alt", marks={0: "begin"}, most="100 B in all", unit="B")
    first, second = re.findall(r'<polygon points="([^"]*)"', drawn)
    tops = [first.split()[:2], second.split()[:2]]
    assert second.split()[2:] == first.split()[1::-1], "one begins where the other ends"
    heights = [[float(point.split(",")[1]) for point in top] for top in tops]
    assert heights[0][1] < heights[0][0]
    assert heights[1][1] == axes.TOP, "100 B, at the top of the axis"
    assert "begin" in drawn
    assert "100 B in all" in drawn
    assert drawn.index("grid") < drawn.index("polygon"), "the grid is behind the areas"
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
    assert f"added up, is {gb(found().bill.bytes)}" in page


def test_measured_runs_name_their_own_settings(rendered: render.Site) -> None:
    example, measured = rendered.pages["peak.md"].split("\n## Measured\n")
    for figure in registry.everything(Measured).values():
        section = measured.split(f"### {figure.title}\n")[1].split("\n### ")[0]
        assert figure.peak.bill.recipe.title in section
        assert figure.peak.bill.recipe.title not in example
        assert all(f"`{name}={value}`" in section for name, value in figure.options.items())
        assert f"{figure.peak.bytes:,} B" in section


@pytest.mark.parametrize("page", ["index.md", "start.md"])
def test_the_first_pages_tell_the_bill_and_the_same_peak(
    rendered: render.Site, repository: Path, page: str
) -> None:
    text = (repository / "site" / "docs" / page).read_text(encoding="utf-8")
    filled = re.sub(r"<[^>]*>", "", rendered.fill(text, page))
    sizes = f"Added up, {gb(found().bill.bytes)}. Not all of it is there at the same moment: at its"
    assert f"{sizes} fullest moment a step holds {gb(found().bytes)}, its peak" in filled
    assert f"{found().bill.recipe.title}, nothing recomputed, attention kernel flash" in filled
    assert "A GPU of 80 GB is too small for that." in filled
    plans = membill.model("llama-3-8b").peak(recompute="full", zero=3, dp=8, **LLAMA)
    assert plans.bytes > plans.bill.bytes
    assert gb(plans.bytes) in filled
    assert gb(plans.bill.bytes) in filled
