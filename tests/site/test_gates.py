"""What every kind of page must hold to: no request elsewhere, light, still, and open to all."""

from pathlib import Path
from typing import Any

import pytest
from browsing import KINDS, NARROW, WIDE, opened

HEAVIEST = 600_000
CALCULATOR = 800_000
"""Bytes of a page with all that it loads, not compressed."""

SHIFTS = """new Promise(done => {
  let sum = 0;
  new PerformanceObserver(list => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(sum), 250);
})"""

AXE = """axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
  violations.filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(node => node.html).join(" ")}`))"""


def loaded(browser: Any, site: Path, served: str, path: str) -> dict[str, int]:
    """Bytes of everything that a page asks for, by its path in the site."""
    page = opened(browser, WIDE, "light")
    page.goto(served + path, wait_until="networkidle")
    files = {url.removeprefix(served).partition("?")[0] for url in page.asked}
    page.context.close()
    return {file: (site / file).stat().st_size for file in files}


@pytest.mark.parametrize("path", KINDS)
def test_a_page_is_light(browser: Any, site: Path, served: str, path: str) -> None:
    sizes = loaded(browser, site, served, path)
    assert {path, "assets/fonts/stix-two-math.woff2"} <= sizes.keys()
    limit = CALCULATOR if path.endswith("/calculator.html") else HEAVIEST
    assert sum(sizes.values()) < limit, sorted(sizes.items(), key=lambda item: -item[1])[:4]


def test_the_largest_page_is_light_too(browser: Any, site: Path, served: str) -> None:
    sizes = loaded(browser, site, served, "reference/layers/gpt.html")
    shared = sum(size for file, size in sizes.items() if not file.endswith(".html"))
    for path in site.rglob("*.html"):
        if path.name != "calculator.html":
            assert path.stat().st_size + shared < HEAVIEST, path


def test_the_search_is_loaded_when_it_is_used(browser: Any, served: str) -> None:
    page = opened(browser, WIDE, "light")
    page.goto(served + "index.html", wait_until="networkidle")

    def asked() -> set[str]:
        return {url.rpartition("/")[2] for url in page.asked if "search." in url or "_index" in url}

    assert asked() == set()
    page.locator("input[name=query]").click()
    page.keyboard.type("softmax")
    page.locator(".md-search-result__item").first.wait_for(timeout=20_000)
    assert "search_index.json" in asked()
    page.context.close()


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_nothing_moves_while_a_page_loads(browser: Any, served: str, width: int) -> None:
    page = opened(browser, width, "light")
    moved = {}
    for path in KINDS:
        page.goto(served + path, wait_until="networkidle")
        if shift := page.evaluate(SHIFTS):
            moved[path] = shift
    assert moved == {}
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_shuts_anyone_out(browser: Any, served: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.base").AXE_SCRIPT
    page = opened(browser, WIDE, scheme)
    found = {}
    for path in KINDS:
        page.goto(served + path, wait_until="networkidle")
        page.evaluate(axe)
        if violations := page.evaluate(AXE):
            found[path] = violations
    assert found == {}
    page.context.close()


def test_instant_navigation_stays_at_home(browser: Any, served: str) -> None:
    page = opened(browser, WIDE, "light")
    page.goto(served + "index.html", wait_until="networkidle")
    page.evaluate("window.same = true")
    for index in range(page.locator(".md-tabs__link").count()):
        link = page.locator(".md-tabs__link").nth(index)
        title = link.inner_text()
        link.click()
        page.locator(".md-tabs__item--active", has_text=title).wait_for()
        page.wait_for_load_state("networkidle")
    assert page.evaluate("window.same"), "the pages came by instant navigation"
    assert [url for url in page.asked if not url.startswith((served, "data:", "blob:"))] == []
    assert page.complaints == []
    page.context.close()
