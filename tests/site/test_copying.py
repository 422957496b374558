"""Every formula can be copied: what a script reads off its MathML is what the engine prints."""

import random
import re
from typing import Any

import pytest
from browsing import NARROW, WIDE, opened

BOXES = [
    "index.html", "method.html", "reference/layers.html", "reference/layers/deepseek_v3.html",
    "reference/layers/gpt.html", "reference/models/gemma-3-1b.html", "reference/plans/cp.html",
    "reference/models/deepseek-v3.html", "reference/plans/pipeline.html", "reference/plans/ep.html",
    "reference/plans/precision.html", "reference/plans/adapters.html", "reference/inference.html",
    "reference/plans/offload.html", "reference/recipes/adafactor.html",
    "reference/recipes/nf4-frozen.html",
]  # fmt: skip
OTHERS = [
    "reference/ops.html",
    "reference/models/falcon-40b.html",
    "reference/plans/recomputation.html",
]

READ_OFF = """() => [...document.querySelectorAll("figure.formula")].map(figure => [
  formulas.notations(figure.querySelector(".sum")),
  Object.fromEntries([...figure.querySelectorAll("button.copy")].map(
    button => [button.textContent, button.dataset.copy]))])"""
NOT_IN_BOXES = """() => [...document.querySelectorAll("math")]
  .filter(math => !math.closest("figure.formula") && !math.matches(".sum math + math"))
  .map(math => [math.matches(".letters"), formulas.notations(math.closest(".sum") ?? math)])"""

TABLE = "#what-is-kept ~ .scroll"
BYTES = f"{TABLE} td:nth-child(4) > math"


def tight(text: str) -> str:
    return re.sub(r"\s", "", text)


def read(page: Any, served: str, path: str) -> None:
    """Open a page with the scripts that come with the first click."""
    page.goto(served + path)
    for name in ("python.js", "formulas.js"):
        page.add_script_tag(url=f"{served}assets/javascripts/{name}")


def values(*codes: str) -> list[dict[str, int]]:
    """Some numbers for the names in code."""
    names = set(re.findall(r"[A-Za-z]\w*", " ".join(codes))) - {"min", "max"}
    rolled = random.Random(0)
    return [{name: rolled.randint(1, 10**6) for name in names} for _ in range(3)]


def computed(code: str, numbers: dict[str, int]) -> int:
    return eval(code, {"min": min, "max": max}, numbers)


def shown(page: Any) -> dict[str, str]:
    """What the popup's buttons copy."""
    page.locator("#letter button").first.wait_for()
    buttons = page.locator("#letter button").all()
    return {each.inner_text(): each.get_attribute("data-copy") for each in buttons}


def test_what_is_read_off_a_box_is_what_its_buttons_copy(browser: Any, served: str) -> None:
    page = opened(browser, WIDE, "light")
    compared = 0
    for path in BOXES:
        read(page, served, path)
        for found, printed in page.evaluate(READ_OFF):
            if not found:  # a letter by itself
                continue
            assert found.keys() == printed.keys(), path
            for notation in ("LaTeX", "Text"):
                assert tight(found[notation]) == tight(printed[notation]), path
            codes = found["Python"], printed["Python"]
            for numbers in values(*codes):
                first, second = (computed(code, numbers) for code in codes)
                assert first == second, (path, codes)
            compared += 1
        assert compared, path
    assert page.complaints == []
    page.context.close()


def test_formulas_elsewhere_can_be_read_too(browser: Any, served: str) -> None:
    page = opened(browser, WIDE, "light")
    for path in (*BOXES, *OTHERS):
        read(page, served, path)
        for of_symbols, found in page.evaluate(NOT_IN_BOXES):
            if found:
                assert all(found.values()), path
            if "Python" in found:
                assert of_symbols, "a gradient formula is about tensors"
                code = found["Python"].rpartition(" = ")[2]
                for numbers in values(code):
                    computed(code, numbers)
    page.context.close()


def test_a_click_offers_to_copy_a_formula_of_a_table(browser: Any, base: str) -> None:
    page = opened(browser, WIDE, "light")
    if base.startswith("http"):
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(base + "reference/layers/gpt.html", wait_until="networkidle")
    page.locator(f"{BYTES} mn").first.click()
    popup = page.locator("#letter")
    assert list(shown(page)) == ["LaTeX", "Python", "Text"]
    popup.get_by_role("button", name="Copy as Python").click()
    page.locator("#letter button[data-said=Copied]").wait_for()
    assert page.locator("#copy-status").inner_text() == "Copied"
    if base.startswith("http"):
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == shown(page)["Python"]
        assert re.fullmatch(r"\d+(\*\w+)+", copied)
    page.locator("h1").click()
    assert not popup.is_visible()
    page.locator(f"{BYTES} mi").first.click()
    popup.get_by_role("link", name="Where T appears").click()
    page.wait_for_url("**/reference/symbols.html#T")
    popup.wait_for(state="hidden")
    assert page.complaints == []
    page.context.close()


def test_a_sum_in_pieces_is_one_formula(browser: Any, served: str) -> None:
    page = opened(browser, WIDE, "light")
    page.goto(served + "reference/layers/gpt.html", wait_until="networkidle")
    page.locator(f"{TABLE} tfoot .sum math:nth-child(2)").first.click()
    box = page.locator("figure.formula").first
    assert shown(page)["Text"] == box.get_by_role("button", name="Text").get_attribute("data-copy")
    page.locator(".reason math").first.click()
    page.locator("#letter button").nth(2).wait_for(state="detached")
    assert list(shown(page)) == ["LaTeX", "Text"], "a gradient formula is about tensors"
    box.locator("math").first.click()
    assert page.locator("#letter button").count() == 0, "a box has buttons of its own"
    page.context.close()


def test_the_keyboard_goes_from_formula_to_formula(browser: Any, served: str) -> None:
    page = opened(browser, WIDE, "light")
    page.goto(served + "reference/layers/gpt.html", wait_until="networkidle")
    table = page.locator(TABLE).first
    table.focus()
    seen = []
    for key in ("Enter", "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowLeft"):
        page.keyboard.press(key)
        page.locator("#letter button").first.wait_for()
        seen.append(page.locator("#letter [role=group]").get_attribute("aria-label"))
    assert seen[0] == seen[4] != seen[1] == seen[3] != seen[2] != seen[0]
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Python"
    page.keyboard.press("Escape")
    assert not page.locator("#letter").is_visible()
    assert table.evaluate("table => table === document.activeElement")
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_finger_copies_within_the_screen(browser: Any, served: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.base").AXE_SCRIPT
    page = opened(browser, NARROW, scheme, has_touch=True, is_mobile=True)
    page.goto(served + "reference/layers/gpt.html", wait_until="networkidle")
    page.locator(f"{BYTES} mi").first.tap()
    popup = page.locator("#letter")
    assert list(shown(page)) == ["LaTeX", "Python", "Text"]
    box = popup.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= NARROW
    page.evaluate(axe)
    found = page.evaluate("axe.run('#letter').then(({ violations }) => violations.map(v => v.id))")
    assert found == []
    popup.get_by_role("button", name="Copy as LaTeX").tap()
    page.locator("#letter button[data-said]").wait_for()
    page.context.close()


def test_it_is_gone_on_the_next_page(browser: Any, served: str) -> None:
    page = opened(browser, WIDE, "light")
    page.goto(served + "reference/layers/gpt.html", wait_until="networkidle")
    page.evaluate("window.same = true")
    page.locator(f"{BYTES} mn").first.click()
    page.locator(".md-tabs__link", has_text="Models").click()
    page.wait_for_url("**/reference/models.html")
    assert not page.locator("#letter").is_visible()
    page.goto(served + "reference/models/llama-3-8b.html")
    page.locator(".md-tabs__link", has_text="Layers").click()
    page.wait_for_url("**/reference/layers.html")
    page.go_back()
    page.wait_for_url("**/llama-3-8b.html")
    page.locator("table.bill td math").first.click()
    assert shown(page)
    assert page.complaints == []
    page.context.close()
