"""Pages of models: what their tables and charts are made of."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from browsing import WIDE, opened
from built import Page
from click.testing import CliRunner

import membill
from membill import registry, units
from membill.cli import program
from membill.recipe import Recipe
from membill.render import Site, models

SHAPES = [registry.shape(name) for name in registry.known().shapes]
USUAL = next(recipe for recipe in registry.everything(Recipe).values() if recipe.usual)
POLICIES = registry.known().policies


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_parameters_by_part_add_up(shape: membill.Shape) -> None:
    model = membill.model(shape.name)
    held = models.parameters(model)
    assert sum(each.number for each in held) == model.parameters()(**shape)
    names = [(each.part.where, each.part.name, each.one.expr) for each in held]
    assert len(set(names)) == len(names)


def test_the_categories_of_a_plan_add_up_to_its_bill() -> None:
    model = membill.model("llama-3-8b")
    found = models.planned(model, "a plan", {"zero": 3, "dp": 8}, {"b": 1, "T": 8192})
    assert found.bill is not None
    assert sum(found.sizes.values()) == sum(found.kinds) == found.bill.bytes
    states, kept, rest = found.kinds
    assert states == 8_030_261_248 * 16 // 8
    assert found.sizes["activations"] == kept
    assert rest == found.sizes["logits and loss"] + found.sizes[models.REST]


def test_a_plan_that_cannot_be_says_why() -> None:
    model = membill.model("gpt-2-124m")
    found = models.planned(model, "a plan", {"tp": 8}, {"b": 1, "T": 1024})
    assert (found.bill, found.sizes) == (None, {})
    assert found.why == "8 does not divide V = 50257; the plan needs 8 | V"
    adapted = models.planned(model, "a plan", {}, {"b": 1, "T": 8}, ("lora", ["nowhere"]))
    assert adapted.why.startswith("unknown place for adapter lora 'nowhere'.")
    assert models.stacks([found, adapted]) == ()


def test_memory_against_length_by_what_is_recomputed() -> None:
    model = membill.model("gpt-3-175b")
    curves = models.against_length(model, model.shape, POLICIES.values(), USUAL)
    lines = {curve.name: curve.points for curve in curves}
    assert list(lines["none"]) == [16 * 2**step for step in range(8)]
    for at in lines["none"]:
        assert lines["full"][at] < lines["selective"][at] < lines["none"][at]
    assert lines["none"][2048] == model.activations()(**model.shape, b=1, T=2048)
    assert set(lines["model states"].values()) == {174_604_259_328 * 16}


def test_pages_of_models_and_layers_name_each_other(rendered: Site) -> None:
    for shape in SHAPES:
        page = rendered.pages[f"models/{shape.name}.md"]
        for name in models.made_of(membill.model(shape.name)):
            assert f'href="../layers/{name}.html"' in page
            layer = rendered.pages[f"layers/{name}.md"]
            assert "Models made of it: " in layer
            assert f'<a href="../models/{shape.name}.html">{shape.title}</a>' in layer


def test_what_a_link_to_a_page_shows_is_its_bill(pages: Mapping[str, Page]) -> None:
    for shape in SHAPES:
        page = pages[f"reference/models/{shape.name}.html"]
        (told,) = (each["content"] for each in page.of("meta") if each.get("name") == "description")
        bill = membill.model(shape.name).bill(b=1, T=models.length(shape))
        assert told.startswith(f"{units.gb(bill.bytes)} is what training {shape.title} would take")


def test_a_page_leads_to_its_case_in_the_calculator(
    browser: Any, site: Path, served: str, pages: Mapping[str, Page]
) -> None:
    page = opened(browser, WIDE, "light")
    for shape in SHAPES:
        path = f"reference/models/{shape.name}.html"
        (link,) = (
            a["href"] for a in pages[path].of("a") if "calculator.html#" in a.get("href", "")
        )
        page.goto(urljoin(served + path, link))
        page.wait_for_function(
            "name => document.querySelector('[name=model]').value === name", arg=shape.name
        )
        total = re.sub(r"\D", "", page.inner_text("[data-exact=total]"))
        assert f"<td>{int(total):,} B</td>" in (site / path).read_text(encoding="utf-8")
    assert page.complaints == []
    page.context.close()


@pytest.mark.parametrize("path", ["index.html", "start.html"])
def test_the_first_pages_lead_to_their_case_in_the_calculator(
    browser: Any, served: str, pages: Mapping[str, Page], path: str
) -> None:
    (link,) = (a["href"] for a in pages[path].of("a") if "calculator.html#" in a.get("href", ""))
    page = opened(browser, WIDE, "light")
    page.goto(urljoin(served + path, link))
    page.wait_for_selector("[data-peak=peak]")
    shown = [page.inner_text(f"[data-{name}]") for name in ("exact=total", "peak=peak")]
    step = membill.model("llama-3-8b").peak(b=1, T=8192)
    assert [int(re.sub(r"\D", "", each)) for each in shown] == [step.bill.bytes, step.bytes]
    page.context.close()


@pytest.mark.parametrize("name", ["llama-3-8b", "gpt-2-124m", "vit-l-16"])
def test_the_commands_on_a_page_run(name: str, rendered: Site) -> None:
    commands = re.findall(r"^membill (bill .*)$", rendered.pages[f"models/{name}.md"], re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        assert CliRunner().invoke(program, command.split()).exit_code == 0, command
