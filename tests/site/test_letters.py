"""What a letter means: under the mouse, by touch, and by the keyboard."""

from typing import Any

import pytest
from browsing import NARROW, WIDE, opened

from membill import symbols
from membill.render import math

PAGE = "reference/layers/llama.html"
MEANING = f"n_kv: {symbols.named('n_kv').meaning}"


@pytest.fixture
def letter() -> str:
    return ".formula-math math.letters msub:has(mi:text-is('kv')) mi"


def test_the_mouse_shows_it_and_escape_hides_it(browser: Any, base: str, letter: str) -> None:
    page = opened(browser, WIDE, "light")
    page.goto(base + PAGE, wait_until="networkidle")
    page.locator(letter).first.hover()
    tip = page.get_by_role("tooltip")
    assert tip.inner_text() == MEANING
    page.keyboard.press("Escape")
    assert not tip.is_visible()
    page.locator("h1").hover()
    page.locator(letter).first.hover()
    assert tip.is_visible()
    assert page.complaints == []
    page.context.close()


def test_a_finger_shows_it_within_the_screen(browser: Any, base: str, letter: str) -> None:
    page = opened(browser, NARROW, "dark", has_touch=True, is_mobile=True)
    page.goto(base + PAGE, wait_until="networkidle")
    page.locator(letter).first.tap()
    box = page.get_by_role("tooltip").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= NARROW
    assert page.get_by_role("tooltip").inner_text() == MEANING
    page.context.close()


def test_the_keyboard_opens_a_list_with_links(browser: Any, base: str) -> None:
    page = opened(browser, WIDE, "light")
    page.goto(base + PAGE, wait_until="networkidle")
    button = page.get_by_role("button", name="Letters").first
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    items = page.locator(".letter-list").first.locator("li").all_inner_texts()
    assert MEANING in items
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/reference/symbols.html#*")
    page.locator(f"tr[id='{page.url.partition('#')[2]}']").wait_for()
    page.context.close()


def test_a_gradient_formula_has_tensors_and_no_symbols(browser: Any, base: str) -> None:
    page = opened(browser, WIDE, "light")
    page.goto(base + PAGE, wait_until="networkidle")
    assert page.locator(".reason math").count() > 10
    assert page.locator(".reason math.letters").count() == 0
    page.context.close()


def test_every_letter_is_found_by_the_text_of_its_formula() -> None:
    found = math.letters()
    assert len(found) == len(symbols.table()), "no two letters look the same"
    assert found["β"].name == "beta"
    assert found["nkv"].name == "n_kv"
