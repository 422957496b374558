"""What the calculator says beside its numbers, how it reads what is typed, and its colours."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import NARROW, WIDE, opened
from calculating import PAGE, in_use, number, peak, shown, verdict

import membill
from membill.units import size


@pytest.fixture
def page(browser: Any, site: Path) -> Iterator[Any]:
    """The calculator, from the disk."""
    yield from in_use(browser, f"{site.as_uri()}/")


def test_the_moment_is_said_in_words_and_both_totals_in_a_sentence(page: Any) -> None:
    moment = page.inner_text("[data-answer=moment]")
    assert moment.startswith(
        "That moment is the start of the backward pass, at the logits and loss"
    )
    assert page.inner_text("[data-answer=moment] code") == page.inner_text("[data-event]")
    totals = page.inner_text("[data-totals]")
    shown_sizes = re.findall(r"(?:peak|bill) of ([\d.]+ GB)", totals)
    exact = [peak(page), number(page.inner_text("[data-exact=total]"))]
    assert [abs(size(each.replace(" ", ""), "") - bytes_) < bytes_ / 100
            for each, bytes_ in zip(shown_sizes, exact, strict=True)] == [True, True]  # fmt: skip


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("", "are not in this moment: backward makes them later"),
        ("&recompute=full", "are there by then: backward makes the others later"),
        ("&recompute=full&T=512", ""),
        ("&recipe=adam-mixed-fp32-grads", ""),
    ],
)
def test_gradients_that_come_later_are_said_to(page: Any, address: str, said: str) -> None:
    found = shown(page, f"#model=llama-3-8b{address}")
    assert isinstance(found, dict)
    there, later = found["peak"].get("gradients", 0), page.inner_text("[data-later]")
    assert (there < found["gradients"]) == bool(said), found
    assert said in later
    assert bool(later) == bool(said)


@pytest.mark.parametrize("typed", ["16,384", "16 384", "16_384", "16\u202f384", " 016384 "])
def test_separators_of_thousands_are_read_and_not_told(page: Any, typed: str) -> None:
    page.fill("[name=T]", typed)
    assert page.locator(".wrong").count() == 0
    assert page.url.endswith("#model=llama-3-8b&T=16384")


def test_a_length_beyond_the_models_positions_is_lowered_or_refused(page: Any) -> None:
    note = page.locator("#c-T-note")
    page.select_option("[name=model]", "gpt-2-124m")
    assert page.input_value("[name=T]") == str(membill.model("gpt-2-124m").shape["P"])
    assert note.inner_text() == "Lowered to P = 1,024 of the model, the positions that it has."
    page.fill("[name=T]", "1025")
    assert page.inner_text("#c-T-wrong").startswith("T must be at most P = 1,024")
    assert note.inner_text() == ""
    page.fill("[name=T]", "1024")
    assert page.inner_text("[data-most=T]") == "1,024 tokens"
    page.select_option("[name=model]", "llama-3-8b")
    assert page.input_value("[name=T]") == "8192"
    assert "No answer" not in verdict(page)


def test_what_an_option_stands_for_is_said_beside_it(page: Any) -> None:
    for value in page.locator("[name=option-loss] option").all_inner_texts():
        page.select_option("[name=option-loss]", value)
        assert page.inner_text("#c-option-loss-note"), value
    assert page.locator("label:has-text('MLP bias')").count() == 1


def test_a_category_has_one_colour_whatever_else_there_is(page: Any) -> None:
    seen: dict[str, str] = {}
    for address in ("", "&recipe=muon", "&recipe=sgd&b=4", "&tied=on&recompute=full&T=512",
                    "&zero=3&dp=64&T=64", "&recompute=full&recipe=adam-bf16"):  # fmt: skip
        shown(page, f"#model=llama-3-8b{address}")
        here = {}
        for entry in page.locator("[data-answer=bar] .legend li").all()[:-1]:
            name = re.sub(r" [\d.,]+ GB$", "", entry.inner_text())
            colour = entry.locator("rect").evaluate("each => getComputedStyle(each).fill")
            here[name] = colour
            assert seen.setdefault(name, colour) == colour, (name, address)
            assert " 0.00000" not in entry.inner_text()
        assert len(set(here.values())) == len(here) > 4, (here, address)
    assert len(seen) > 8


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_verdict_stays_in_sight_and_hides_no_field(
    browser: Any, site: Path, width: int
) -> None:
    page = opened(browser, width, "light")
    page.goto(f"{site.as_uri()}/{PAGE}", wait_until="networkidle")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.focus("[name=memory]")
    for _ in range(25):
        field, over = page.evaluate(
            """() => [document.activeElement, document.querySelector(".verdict")].map(each => {
              const { top, bottom, left, right } = each.getBoundingClientRect();
              return { top, bottom, left, right };
            })"""
        )
        assert 0 <= over["top"] < over["bottom"] <= 300
        beside = field["left"] >= over["right"] or field["right"] <= over["left"]
        assert beside or field["top"] >= over["bottom"] or field["bottom"] <= over["top"]
        page.keyboard.press("Shift+Tab")
        if page.evaluate("document.activeElement.name") == "model":
            break
    page.context.close()


def test_boxes_are_large_enough_to_hit(page: Any) -> None:
    sizes = page.locator("#calculator-form input[type=checkbox]").evaluate_all(
        "all => all.map(each => each.getBoundingClientRect().height)"
    )
    assert sizes
    assert min(sizes) >= 24
