"""Charts in a browser: every text is within its drawing, and runs into no other."""

from typing import Any

import pytest
from browsing import KINDS, NARROW, WIDE, opened

BESIDES = [
    "reference/peak.html", "reference/layers/gemma2.html", "reference/layers/llama.html",
    "reference/models/qwen3-30b-a3b.html", "reference/plans/cp.html",
]  # fmt: skip

AMISS = """[...document.querySelectorAll("figure.chart > svg[width]")].flatMap(svg => {
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const texts = [...svg.querySelectorAll("text")].map(text => {
    const { x, y, width, height } = text.getBBox();
    const leading = height / 5;
    return { text: text.textContent, left: x, right: x + width, top: y + leading,
             bottom: y + height - leading };
  });
  const out = texts.filter(one =>
    one.left < -2 || one.right > width + 2 || one.top < -1 || one.bottom > height + 1);
  const met = texts.flatMap((one, at) => texts.slice(0, at).filter(other =>
    one.left < other.right && other.left < one.right &&
    one.top < other.bottom && other.top < one.bottom).map(other => [one.text, other.text]));
  return [...out.map(one => one.text), ...met];
})"""


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_texts_of_charts_have_room(browser: Any, served: str, width: int) -> None:
    page = opened(browser, width, "light")
    for path in (*KINDS, *BESIDES):
        assert page.goto(served + path, wait_until="networkidle").ok, path
        assert page.evaluate(AMISS) == [], path
    page.context.close()
