"""The built site in a real browser: it fits, stays quiet, asks nobody else, and copies."""

from typing import Any

import pytest
from browsing import KINDS, NARROW, WIDE, opened


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_pages_fit_and_stay_at_home(browser: Any, base: str, width: int, scheme: str) -> None:
    page = opened(browser, width, scheme)
    for path in KINDS:
        page.goto(base + path, wait_until="networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert page.evaluate("document.fonts.ready.then(() => true)")
        if page.locator("math").count():
            loaded = "[...document.fonts].filter(f => f.status == 'loaded').map(f => f.family)"
            assert any("STIX Two Math" in family for family in page.evaluate(loaded)), path
    assert page.complaints == []
    assert [url for url in page.asked if not url.startswith((base, "data:", "blob:"))] == []
    page.context.close()


COLOURS = """[...document.querySelectorAll('figure.chart > svg')].map(svg => ({
  width: svg.getBoundingClientRect().width,
  text: getComputedStyle(svg.querySelector('text')).fill,
  drawn: getComputedStyle(svg.querySelector('.fill-0')).fill,
}))"""


def test_a_chart_has_the_colours_of_the_page_and_fits(browser: Any, base: str) -> None:
    colours = []
    for scheme, width in (("light", WIDE), ("dark", NARROW)):
        page = opened(browser, width, scheme)
        page.goto(f"{base}reference/layers/gpt.html", wait_until="networkidle")
        charts = page.evaluate(COLOURS)
        assert len(charts) == 2
        for chart in charts:
            assert 300 < chart["width"] <= min(640, width)
        colours.append({(chart["text"], chart["drawn"]) for chart in charts})
        page.context.close()
    light, dark = colours
    assert len(light) == len(dark) == 1
    ((text, drawn), (dark_text, dark_drawn)) = (*light, *dark)
    assert text != dark_text
    assert drawn != dark_drawn


def test_copy_by_mouse_and_by_keyboard(browser: Any, base: str) -> None:
    page = opened(browser, WIDE, "light")
    if base.startswith("http"):
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{base}reference/layers/gpt.html", wait_until="networkidle")
    status = page.locator("#copy-status")
    latex = page.get_by_role("button", name="Copy as LaTeX").first
    python = page.get_by_role("button", name="Copy as Python").first
    latex.click()
    status.get_by_text("Copied", exact=True).wait_for(state="attached")
    if base.startswith("http"):
        assert page.evaluate("navigator.clipboard.readText()") == latex.get_attribute("data-copy")
    python.focus()
    page.keyboard.press("Enter")
    page.locator("button.copy[data-said=Copied]").nth(1).wait_for()
    assert python.get_attribute("data-copy") == "34*T*b*d + 5*h*T**2*b + 16*T*b"
    if base.startswith("http"):
        assert page.evaluate("navigator.clipboard.readText()") == python.get_attribute("data-copy")
    assert page.complaints == []
    page.context.close()


def test_search_works_without_a_server(browser: Any, base: str) -> None:
    page = opened(browser, WIDE, "light")
    page.goto(f"{base}index.html", wait_until="networkidle")
    page.locator("input[name=query]").click()
    page.keyboard.type("softmax")
    page.locator(".md-search-result__item").first.wait_for(timeout=20_000)
    assert page.complaints == []
    page.context.close()
