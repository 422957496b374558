"""Pages of recipes: every one, with its states, its closed form, models, and a chart to scale."""

import html
import re

import pytest

import membill
from membill import registry, render, units
from membill.kept import kept, states_of_model
from membill.recipe import Recipe, states_total

RECIPES = registry.everything(Recipe)


def page(rendered: render.Site, name: str) -> str:
    return rendered.pages[f"recipes/{name}.md"]


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", text))


def test_every_recipe_has_its_page_in_the_navigation(rendered: render.Site) -> None:
    (section,) = (part["Recipes"] for part in rendered.navigation if "Recipes" in part)
    assert section == [
        {"All recipes": "reference/recipes.md"},
        *({recipe.title: f"reference/recipes/{name}.md"} for name, recipe in RECIPES.items()),
    ]
    paths = [path.removeprefix("reference/") for each in section for path in each.values()]
    assert set(paths) <= rendered.pages.keys()


@pytest.mark.parametrize("name", RECIPES)
def test_a_page_has_the_states_with_formats_and_who_divides_them(
    rendered: render.Site, name: str
) -> None:
    recipe = RECIPES[name]
    text = plain(page(rendered, name))
    assert recipe.use
    assert recipe.use.split(".")[0].replace("'", "&#39;") in text
    for state in recipe.every:
        assert f"{state.name} {state.dtype}" in text
    stages = re.findall(r"divided from stage (\d)", text)
    first = {"weights": "3", "gradients": "2", "master": "1", "moments": "1"}
    assert stages == [first[state.kind] for state in recipe.every]
    assert all(each.name in text for each in kept(recipe))


@pytest.mark.parametrize("name", RECIPES)
def test_a_page_has_what_the_update_makes(rendered: render.Site, name: str) -> None:
    found = re.findall(
        r"Each update makes ([a-z ]+) besides, (\d) bytes", plain(page(rendered, name))
    )
    width = {"compute": "2", "float32": "4"}
    assert found == [(each.name, width[str(each.dtype)]) for each in RECIPES[name].step]


@pytest.mark.parametrize("name", RECIPES)
def test_a_page_has_the_closed_form_or_says_what_it_hangs_on(
    rendered: render.Site, name: str
) -> None:
    text = page(rendered, name)
    copied = re.findall(r'data-copy="([^"]*)"[^>]*Python', text)
    assert bool(copied) is not bool(RECIPES[name].shaped)
    if RECIPES[name].shaped:
        assert "loss.<wbr>logits.<wbr>weight" in text


@pytest.mark.parametrize("name", [name for name in RECIPES if not RECIPES[name].frozen])
def test_bytes_of_models_are_the_engines(rendered: render.Site, name: str) -> None:
    model = membill.model("llama-3-8b")
    size = states_total(states_of_model(RECIPES[name], model))()
    assert f"{units.exact(size)}, or {units.gib(size)}" in page(rendered, name)


def test_bytes_of_adapted_models_are_the_engines(rendered: render.Site) -> None:
    model = membill.model("llama-3-8b").adapt("lora", on=["q", "v"])
    for name in ("lora", "qlora"):
        size = states_total(states_of_model(RECIPES[name], model, r=8))()
        assert f"{units.exact(size)}, or {units.gib(size)}" in page(rendered, name)


def test_all_recipes_on_one_page(rendered: render.Site) -> None:
    text = rendered.pages["recipes.md"]
    rows = {row.split('"')[0]: row for row in text.split('<a href="recipes/')[1:]}
    assert list(rows) == [f"{name}.html" for name in RECIPES]
    for name, recipe in RECIPES.items():
        row = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", rows[f"{name}.html"])))
        assert f"> {recipe.title} {name} " in f"> {row.partition('>')[2].strip()}"
        assert recipe.use in row
        assert recipe.source in row
        assert all(each.name in row for each in kept(recipe) if len(kept(recipe)) > 1)
    assert "(plans/states.md)" in text
    assert "(../recipes.md)" in rendered.pages["plans/states.md"]
    assert "(../recipes.md)" in page(rendered, "sgd")


def test_recipes_side_by_side(rendered: render.Site) -> None:
    text = rendered.pages["plans/states.md"]
    for name, recipe in RECIPES.items():
        assert f'<a href="../recipes/{name}.html">{recipe.title}</a>' in text
    (chart,) = re.findall(r"<svg viewBox.*?</svg>", text.split("## ZeRO")[0])
    trained = [each for each in RECIPES.values() if len(each.states) > 1 and not each.frozen]
    assert chart.count('class="end"') == len(trained)


def test_why_the_master_copy_exists(rendered: render.Site) -> None:
    text = plain(rendered.pages["plans/precision.md"].split("## Why the master copy exists")[1])
    assert "bfloat16 7 1 + 1/128 1/256 1.00000000 40 updates" in text
    assert "stays at 1 for ever" in text
    assert "another bfloat16 number after 40." in text
