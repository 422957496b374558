"""The site's structure: what a newcomer finds at the top, and what links lead where."""

import re
from collections.abc import Mapping
from pathlib import Path

from built import Page

import membill
from membill import spec, symbols
from membill.cli import program

TOP = [
    "Start here", "Method", "Layers", "Models", "Plans", "Recipes", "Inference", "Peak",
    "Calculator", "Audit", "Symbols", "Add your own", "Python API", "CLI reference", "Changelog",
]  # fmt: skip


def hrefs(page: Page) -> set[str]:
    return {link.get("href", "") for link in page.of("a")}


def test_the_top_of_every_page_says_where_things_are(site: Path) -> None:
    for path in site.rglob("*.html"):
        html = path.read_text(encoding="utf-8")
        tabs = re.findall(r'class="md-tabs__link"[^>]*>\s*(.*?)\s*</a>', html, re.DOTALL)
        assert tabs == TOP, path


def test_the_first_example_is_on_the_home_page(pages: Mapping[str, Page]) -> None:
    bill = membill.model("llama-3-8b").bill(b=1, T=8192)
    for path in ("index.html", "start.html"):
        text = pages[path].text
        assert f"{bill.bytes / 1e9:.0f} GB" in text, path
        for part in ("weights", "gradients", "optimizer state", "activations"):
            assert part in text, path
    assert {"start.html", "reference/recipes.html"} <= hrefs(pages["index.html"])
    assert {"recipes.html"} <= hrefs(pages["reference/peak.html"]), "the tab of recipes"


def test_every_public_name_has_a_page(pages: Mapping[str, Page]) -> None:
    found = pages["reference/api.html"]
    for module in (membill, spec):
        for name in module.__all__:
            kinds = [
                path
                for path in pages
                if path.startswith(f"reference/api/{module.__name__}.{name}.".lower())
                and pages[path].text.count(f"{module.__name__}.{name}")
            ]
            assert kinds, (module.__name__, name)
            assert any(path.removeprefix("reference/") in hrefs(found) for path in kinds), name


def test_a_page_of_the_api_has_signature_docstring_members_and_source(
    pages: Mapping[str, Page],
) -> None:
    page = pages["reference/api/membill.formula.class.html"]
    assert "expr: sympy.Expr" in page.code
    assert "An exact count (of bytes, of parameters)" in page.text
    assert {"latex", "python", "subs"} <= page.ids
    assert re.search(r"membill/formula\.py, line \d+", page.code)


def test_every_command_is_described(pages: Mapping[str, Page]) -> None:
    page = pages["reference/commands.html"]
    for name in program.commands or program.list_commands(None):  # type: ignore[arg-type]
        assert f"membill-{name}" in page.ids
    assert "--recompute" in page.code
    assert "--spec" in page.code


def test_every_symbol_says_where_it_appears(pages: Mapping[str, Page]) -> None:
    page = pages["reference/symbols.html"]
    assert set(symbols.names()) <= page.ids
    links = hrefs(page)
    assert {"layers.html", "models.html", "plans.html"} <= links, "all of a kind"
    assert {"layers/deepseek_v3.html", "plans/tp.html", "models/vit-l-16.html"} <= links
    assert {"recipes/adafactor.html", "plans/adapters.html", "calculator.html"} <= links


def test_layers_models_and_ops_lead_to_each_other(pages: Mapping[str, Page]) -> None:
    assert "../models/llama-3-8b.html" in hrefs(pages["reference/layers/llama.html"])
    assert "../layers/llama.html" in hrefs(pages["reference/models/llama-3-8b.html"])
    assert "../ops.html#softmax" in hrefs(pages["reference/layers/gpt.html"])
    assert "layers/gpt.html" in hrefs(pages["reference/ops.html"])
    assert "no layer yet" not in pages["reference/ops.html"].text.replace("squeeze", "")
