"""Charts: drawn to scale, labelled in round numbers, and safe whatever the names are."""

import itertools
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markupsafe import Markup

from membill.render import axes, charts, colours
from membill.render.charts import Bar, Crossing, Curve, Stack


def drawing(markup: str) -> ElementTree.Element:
    """The drawing itself, without its legend."""
    (found,) = re.findall(r"<svg viewBox.*?</svg>", markup)
    return ElementTree.fromstring(found)


def texts(markup: str) -> list[str]:
    return [text.text or "" for text in drawing(markup).iter("text")]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 B"), (500, "500 B"), (1000, "1 kB"), (2.5e12, "2.5 TB"), (2e21, "2000 EB")],
)
def test_amounts_have_a_prefix_and_a_unit(value: float, text: str) -> None:
    assert axes.amount(value, "B") == text


def test_bars_are_as_long_as_their_values() -> None:
    markup = charts.bars([Bar("a", "x", 10, "ten"), Bar("b <&>", "y", 5, "five")], "Bar chart & <>")
    lengths = [float(rect.attrib["width"]) for rect in drawing(markup).iter("rect")]
    assert lengths == [charts.WIDTH, charts.WIDTH / 2]
    assert texts(markup) == ["a", "ten", "b <&>", "five"]
    assert drawing(markup).attrib["aria-label"] == "Bar chart & <>"
    assert markup.count("<li>") == 2


def test_stacked_parts_stand_one_after_the_other_to_scale() -> None:
    parts = [Bar("a", "x", 6, "six"), Bar("b", "y", 2, "two")]
    markup = charts.stacks([Stack("all", parts, "eight"), Stack("half", parts[1:], "2")], "Bars")
    drawn = list(drawing(markup).iter("rect"))
    starts = [float(rect.attrib["x"]) for rect in drawn]
    lengths = [float(rect.attrib["width"]) for rect in drawn]
    assert starts == [0, charts.WIDTH * 3 / 4, 0]
    assert lengths == [charts.WIDTH * 3 / 4, charts.WIDTH / 4, charts.WIDTH / 4]
    assert drawn[1].attrib["class"] == drawn[2].attrib["class"] != drawn[0].attrib["class"]
    assert texts(markup) == ["all", "eight", "half", "2"]
    assert markup.count("<li>") == 2


def test_a_category_has_one_colour_beside_whatever_it_stands() -> None:
    def drawn(*groups: str) -> list[str]:
        parts = [Bar(group, group, 1, "1") for group in groups]
        markup = charts.stacks([Stack("all", parts, "all")], "Bars")
        return [rect.attrib["class"] for rect in drawing(markup).iter("rect")]

    assert drawn("weights", "gradients", "activations")[2] == drawn("activations", "weights")[0]
    assert drawn("activations") == drawn("kept for backward")
    unknown = drawn("one of them", "weights", "another")
    assert len(set(unknown)) == 3


def test_the_style_sheets_have_every_colour_in_both_schemes(repository: Path) -> None:
    sheets = sorted((repository / "site/docs/assets/stylesheets").glob("*.css"))
    css = "".join(sheet.read_text(encoding="utf-8") for sheet in sheets)
    for colour in range(colours.COLOURS):
        assert css.count(f"--chart-{colour}: #") == 2
        assert css.count(f"--hue: var(--chart-{colour})") == 1


def test_bars_of_one_group_need_no_legend() -> None:
    assert "legend" not in charts.bars([Bar("a", "", 1, "one")], "Bar chart")


def test_no_bars_and_bars_of_nothing_are_drawn() -> None:
    assert texts(charts.bars([], "Bar chart")) == []
    (rect,) = drawing(charts.bars([Bar("a", "", 0, "0 B")], "Bar chart")).iter("rect")
    assert float(rect.attrib["width"]) == 1


def heights(markup: str) -> list[float]:
    return [float(point.attrib["cy"]) for point in drawing(markup).iter("circle")]


def test_logarithmic_axes_put_equal_ratios_at_equal_distances() -> None:
    markup = charts.curves([Curve("n", {1: 10, 2: 100, 4: 1000})], "Line chart", x="t", unit="B")
    first, second, third = heights(markup)
    assert first - second == pytest.approx(second - third, abs=0.2)
    assert {"1", "2", "4", "10 B", "1 kB", "t"} <= set(texts(markup))


def test_linear_axes_start_at_nothing() -> None:
    curve = Curve("n", {0.0: 900, 12.5: 450, 33.3: 0})
    markup = charts.curves([curve], "Line chart", x="%", unit="B", log_x=False, log_y=False)
    first, second, third = heights(markup)
    assert first - second == pytest.approx(second - third, abs=0.2)
    assert {"0", "10", "20", "30", "0 B", "200 B", "1 kB"} <= set(texts(markup))


def test_labels_do_not_run_into_each_other() -> None:
    curve = Curve("n", {1024 * 2**step: 10**step for step in range(8)})
    labels = [
        text
        for text in drawing(charts.curves([curve], "Line chart", x="T", unit="B")).iter("text")
        if text.attrib["class"] == "middle" and text.text != "T"
    ]
    places = sorted(float(label.attrib["x"]) for label in labels)
    assert labels[0].text == "131,072"
    assert all(right - left > 50 for left, right in itertools.pairwise(places))


def test_no_two_lines_look_alike() -> None:
    curves = [Curve(str(n), {1: n + 1, 2: n + 2}) for n in range(16)]
    markup = charts.curves(curves, "Line chart", x="t", unit="B")
    looks = [path.attrib["class"] for path in drawing(markup).iter("path")]
    lines = [look for look in looks if look != "grid"]
    assert len(set(lines)) == len(lines) == 16


def crossing(at: int, value: int) -> Crossing:
    return Crossing(at, value, f"T = {at}", Markup("here"))


def rings(markup: str) -> list[tuple[float, float]]:
    found = (each for each in drawing(markup).iter("circle") if each.get("class") == "ring")
    return [(float(ring.attrib["cx"]), float(ring.attrib["cy"])) for ring in found]


def test_a_crossing_is_a_ring_on_the_line_with_its_label() -> None:
    line = Curve("n", {1: 10, 4: 1000}, [crossing(2, 100)])
    markup = charts.curves([line], "Line chart", x="t", unit="B")
    first, second = heights(markup)[:2]
    ((x, y),) = rings(markup)
    assert x == pytest.approx((axes.LEFT + axes.END) / 2)
    assert y == pytest.approx((first + second) / 2, abs=0.2)
    assert "T = 2" in texts(markup)


def test_rings_on_each_other_are_one_and_a_label_without_room_is_left_out() -> None:
    lines = [
        Curve(str(n), {1: 100 + 4 * n, 4: 100 + 4 * n}, [crossing(2, 100 + 4 * n)])
        for n in range(60)
    ]
    lines.append(Curve("same", {1: 100, 4: 100}, [crossing(2, 100)]))
    markup = charts.curves(lines, "Line chart", x="t", unit="B")
    assert 1 < len(rings(markup)) < len(lines)
    assert texts(markup).count("T = 2") < len(rings(markup))


def test_a_line_below_another_is_wider_and_has_no_dots() -> None:
    lines = [Curve("below", {1: 1000, 2: 2000}), Curve("on it", {1: 1001, 2: 2001})]
    markup = charts.curves([*lines, Curve("apart", {1: 1, 2: 2})], "Lines", x="t", unit="B")
    looks = [path.attrib["class"] for path in drawing(markup).iter("path")]
    assert [look for look in looks if look != "grid"] == [
        "line-0 under-1", "line-1 dash-1", "line-2 dash-2",
    ]  # fmt: skip
    assert len(heights(markup)) == 4
    assert "line-0 under-1" in markup.split("legend")[1]


def test_points_carry_names() -> None:
    line = Curve("n", {0.0: 900, 50.0: 100}, names={50.0: "mlp <up>"})
    markup = charts.curves([line], "Lines", x="%", unit="B", log_x=False, log_y=False)
    assert "mlp <up>" in texts(markup)
