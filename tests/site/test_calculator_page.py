"""The calculator in use: what is wrong is said, links restore, keys work, nothing is asked for."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import NARROW, WIDE, opened
from calculating import PAGE, in_use, number, peak, verdict
from config_facts import fact

HEAVIEST = 800_000
PUT_IN = ("calculator", "symbols")


@pytest.fixture
def page(browser: Any, base: str) -> Iterator[Any]:
    """The calculator, from a server and from the disk."""
    yield from in_use(browser, base)


@pytest.fixture
def local(browser: Any, site: Path) -> Iterator[Any]:
    """The calculator, from the disk."""
    yield from in_use(browser, f"{site.as_uri()}/")


def test_what_is_wrong_is_said_beside_its_field_and_old_numbers_are_dimmed(page: Any) -> None:
    assert "to spare" in verdict(page) or "too much" in verdict(page)
    page.fill("[name=T]", "12x")
    field = page.locator("[name=T]")
    assert field.get_attribute("aria-invalid") == "true"
    beside = page.locator(f"#{field.get_attribute('aria-errormessage')}")
    assert beside.inner_text().startswith("12x is not a whole number from 1 up: write it in digits")
    described = str(field.get_attribute("aria-describedby")).split()
    assert described[0] == beside.get_attribute("id")
    assert verdict(page).startswith("No answer. Tokens in a sequence")
    current = page.locator("[data-answer=current]")
    assert current.evaluate("each => each.inert && Number(getComputedStyle(each).opacity) < 0.5")
    page.fill("[name=T]", "1024")
    assert page.locator(".wrong").count() == 0
    assert field.get_attribute("aria-invalid") is None
    assert str(field.get_attribute("aria-describedby")).split() == described[1:]
    assert not current.evaluate("each => each.inert")


@pytest.mark.parametrize(
    ("fields", "name", "message"),
    [
        ({"b": "0"}, "b", "0 is not a whole number from 1 up"),
        ({"b": ""}, "b", "give a whole number from 1 up"),
        ({"T": "1.5"}, "T", "1.5 is not a whole number from 1 up"),
        ({"T": "-8"}, "T", "-8 is not a whole number from 1 up"),
        ({"b": "8k"}, "b", "8k is not a whole number from 1 up: write it in digits"),
        ({"b": "1,5"}, "b", "1,5 is not a whole number from 1 up"),
        ({"b": "1" + 20 * "0"}, "b", "0 is too large: at most 1,000,000,000"),
        ({"memory": "lots"}, "memory", "lots is not a size above 0"),
        ({"memory": "0.0"}, "memory", "0.0 is not a size above 0"),
        ({"memory": "1e30"}, "memory", "1e30 is too large: at most 1,000,000,000 GB"),
        ({"tp": "7"}, "tp", "t = 7 does not divide"),
        ({"cp": "3"}, "cp", "c must divide T: c = 3 does not divide T = 8,192"),
        ({"dim-n_kv": "7"}, "dim-n_kv", "n_kv must divide h: n_kv = 7 does not divide h = 32"),
        ({"schedule": "1f1b", "pp": "1000000000"}, "pp", "does not divide the 32 layers"),
        ({"dim-L": "33", "schedule": "1f1b", "pp": "2"}, "pp", "p = 2 does not divide"),
    ],
)
def test_bad_values_are_refused(
    local: Any, fields: dict[str, str], name: str, message: str
) -> None:
    local.click("summary:has-text('Dimensions')")
    for field, value in fields.items():
        each = local.locator(f"[name={field}]")
        each.select_option(value) if field == "schedule" else each.fill(value)
    assert message in local.inner_text(f"#c-{name}-wrong")
    assert local.locator(".wrong").count() == 1


@pytest.mark.parametrize(
    "address",
    ["model=llama-9", "recipe=lots", "option-attention=no", "config=%7B", "config=%5B1%5D",
     'config={"model_type":"llama"}', 'config={"model_type":"llama","hidden_size":-1}',
     'config={"model_type":"__proto__"}', 'config={"architecture":"llama"}'],
)  # fmt: skip
def test_an_address_that_says_nonsense_is_refused(local: Any, address: str) -> None:
    model = "" if address.startswith("model") else "model=llama-3-8b&"
    here = local.url.partition("#")[0]
    local.goto("about:blank")
    local.goto(f"{here}#{model}{address}", wait_until="networkidle")
    assert verdict(local).startswith("No answer")
    assert local.locator(".wrong").count() == 1
    local.select_option("[name=model]", "gpt-2-124m")
    local.select_option("[name=recipe]", "sgd")
    assert "No answer" not in verdict(local)


def test_a_link_restores_everything(page: Any) -> None:
    page.select_option("[name=model]", "qwen3-30b-a3b")
    page.click("summary:has-text('Dimensions')")
    for name, value in {"dim-L": "24", "T": "4096", "tp": "2", "ep": "4", "memory": "141"}.items():
        page.fill(f"[name={name}]", value)
    for name, value in {"option-attention": "eager", "schedule": "1f1b", "unit": "GiB"}.items():
        page.select_option(f"[name={name}]", value)
    page.fill("[name=pp]", "4")
    page.check("[name=sp]")
    read = "[...new FormData(document.forms['calculator-form'])].filter(([n]) => n != 'file')"
    before = (page.evaluate(read), verdict(page), peak(page))
    other = page.context.new_page()
    other.goto(page.get_attribute("[data-answer=link]", "data-copy"))
    assert (other.evaluate(read), verdict(other), peak(other)) == before
    other.close()


def test_it_works_with_the_keyboard_alone(page: Any) -> None:
    page.focus("[name=model]")
    names = []
    for _ in range(20):
        names.append(page.evaluate("document.activeElement.name || document.activeElement.tagName"))
        page.keyboard.press("Tab")
    assert names[:3] == ["model", "file", "option-attention"]
    assert {"SUMMARY", "b", "T", "recipe", "recompute", "tp"} <= set(names)
    before = peak(page)
    page.focus("[name=recompute]")
    page.keyboard.press("ArrowDown")
    assert peak(page) != before
    before = peak(page)
    page.focus("[name=b]")
    page.keyboard.press("End")
    page.keyboard.type("6")
    assert peak(page) > before


def test_every_field_has_a_name_that_is_read_out(page: Any) -> None:
    for field in page.locator("form#calculator-form :is(input, select)").all():
        labels = field.evaluate("each => [...each.labels].map(l => l.textContent.trim()).join()")
        assert labels, field.get_attribute("name")
    assert page.locator(".verdict[role=status][aria-live=polite]").count() == 1
    assert page.locator("fieldset > legend").count() == page.locator("fieldset").count()


DROP = """(text) => {
  const moved = new DataTransfer();
  moved.items.add(new File([text], "config.json", { type: "application/json" }));
  const event = new DragEvent("drop", { dataTransfer: moved, bubbles: true, cancelable: true });
  document.getElementById("calculator-form").dispatchEvent(event);
}"""


def test_a_file_can_be_dropped(page: Any) -> None:
    page.evaluate(DROP, json.dumps(fact("gpt-2-774m")))
    page.wait_for_function("document.querySelector('[name=model]').value === 'config.json'")
    assert number(page.inner_text("[data-exact=parameters]")) == 774_030_080
    page.select_option("[name=model]", "llama-3-8b")
    assert page.locator("[name=model] option[value='config.json']").count() == 0


def test_the_curve_is_the_table_beneath_it(page: Any) -> None:
    page.click("summary:has-text('The data as a table')")
    lengths = page.locator("[data-answer=curve] tbody th").all_inner_texts()
    bytes_of = page.locator("[data-answer=curve] tbody td:nth-child(2)").all_inner_texts()
    assert len(lengths) == page.locator("[data-answer=curve] circle").count() == 8
    for length, exact in zip(lengths, bytes_of, strict=True):
        page.fill("[name=T]", str(number(length)))
        assert number(exact) == peak(page)


def test_it_comes_and_goes_with_instant_navigation(browser: Any, served: str) -> None:
    page = opened(browser, WIDE, "light")
    urls = (f"<url><loc>{served}reference/{name}.html</loc></url>" for name in PUT_IN)
    sitemap = f"<urlset>{''.join(urls)}</urlset>"
    page.route("**/sitemap.xml", lambda route: route.fulfill(body=sitemap))
    page.goto(served + PAGE, wait_until="networkidle")
    page.evaluate("window.same = true")
    for _ in range(2):
        page.click(".md-tabs a:has-text('Symbols')")
        page.wait_for_selector("#calculator-form", state="detached")
        page.click(".md-tabs a:has-text('Calculator')")
        page.wait_for_selector("[data-peak=peak]")
    assert page.evaluate("window.same"), "the pages were not put in, but loaded"
    before = peak(page)
    page.fill("[name=T]", "16384")
    assert peak(page) > before
    assert "T=16384" in page.url
    assert page.complaints == []
    page.context.close()


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_with_everything_open(browser: Any, base: str, width: int, scheme: str) -> None:
    page = opened(browser, width, scheme)
    page.goto(f"{base}{PAGE}#model=deepseek-v3&schedule=interleaved", wait_until="networkidle")
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.context.close()


def test_it_is_light(browser: Any, served: str) -> None:
    page = opened(browser, WIDE, "light")
    sizes: dict[str, int] = {}
    page.on("response", lambda answer: sizes.update({answer.url: len(answer.body())}))
    page.goto(served + PAGE, wait_until="networkidle")
    assert len(sizes) > 15
    assert sum(sizes.values()) < HEAVIEST, sorted(sizes.items(), key=lambda item: -item[1])
    page.context.close()
