"""Rendering is a pure function of the registry, and follows it."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from built import MINE

from membill import registry, render, symbols
from membill.audit import results
from membill.errors import InputError, SpecError
from membill.render import font
from membill.render.math import mathml

RENDER = """
import json, sys
from pathlib import Path
from membill import render
site = render.site(Path(sys.argv[1]))
home = site.fill((Path(sys.argv[1]) / "docs" / "index.md").read_text(), "index.md")
json.dump({**site.pages, "index.md": home}, sys.stdout)
"""


def render_elsewhere(specs: Path, repository: Path, **env: str) -> Mapping[str, str]:
    """The pages that a process of its own renders from these specs."""
    run = subprocess.run(
        [sys.executable, "-c", RENDER, str(repository / "site")],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(specs), str(repository / "engine")]),
            **env,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return dict(json.loads(run.stdout))


def drawings(page: str) -> list[str]:
    """The charts of a page."""
    return re.findall(r"<svg viewBox.*?</svg>", page)


@pytest.fixture(scope="module")
def altered(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The pages of specs with one need less and one layer more."""
    specs = tmp_path_factory.mktemp("altered") / "specs"
    shutil.copytree(repository / "specs", specs)
    softmax = specs / "membill_specs" / "ops" / "softmax.py"
    text = softmax.read_text(encoding="utf-8")
    assert text.count("needs(y, ") == 1
    softmax.write_text(text.replace("needs(y, ", "needs("), encoding="utf-8")
    added = specs / "membill_specs" / "layers" / "of_mine.py"
    added.write_text(MINE.replace("NAME", "of_mine"), encoding="utf-8")
    return render_elsewhere(specs, repository)


def test_a_need_removed_changes_every_page_that_rests_on_it(
    rendered: render.Site, altered: Mapping[str, str], repository: Path
) -> None:
    before = rendered.pages["layers/gpt.md"]
    after = altered["layers/gpt.md"]
    assert 'data-copy="34*T*b*d + 5*h*T**2*b + 16*T*b"' in before
    assert "34*T*b*d + 5*h*T**2*b" not in after
    assert 'data-copy="34*T*b*d + 3*h*T**2*b + 16*T*b"' in after
    assert "are 70% of activation memory" in before
    assert "are 70% of activation memory" not in after
    assert drawings(before) != drawings(after)
    assert len(drawings(before)) == 2
    assert "to the byte</strong>" in before
    assert "the results of that audit no longer hold" in after
    assert "differs from" not in rendered.pages["published.md"]
    assert altered["published.md"].count("differs from") >= 4
    for plan in ("tp", "pipeline", "recomputation"):
        assert rendered.pages[f"plans/{plan}.md"] != altered[f"plans/{plan}.md"]
    home = (repository / "site" / "docs" / "index.md").read_text(encoding="utf-8")
    assert rendered.fill(home, "index.md") != altered["index.md"]
    assert rendered.pages["layers.md"] != altered["layers.md"]


def test_the_page_of_the_audit_takes_back_what_no_longer_holds(
    rendered: render.Site, altered: Mapping[str, str]
) -> None:
    before, after = rendered.pages["audit.md"], altered["audit.md"]
    assert "no longer" not in before
    (found,) = results.shipped()
    _, layers, models = re.split(r"\n## (?:Layers|Models)\n", after)
    assert layers.count("no longer hold.") == sum(map(alone, found.layers)) > 20
    assert models.count("no longer hold.") > 20
    assert "In doubt" in row_of(models, "softmax")
    assert "In doubt" not in row_of(models, "cross_entropy")


def alone(subject: results.Subject) -> bool:
    """Whether the layer of a subject keeps something that softmax alone needs."""
    layer = registry.layer(subject.layer).variant(**subject.options).freeze(*subject.frozen)
    layer = layer.adapt(subject.adapter, subject.on) if subject.adapter else layer
    softmax = {op.path for op in layer.graph().ops if op.kind == "softmax"}
    return any(softmax.issuperset(row.needed_by) for row in layer.ledger().rows)


def row_of(page: str, op: str) -> str:
    return page.partition(f"<code>{op}</code>")[2].partition("</tr>")[0]


def test_a_layer_is_found_by_its_file_being_there(altered: Mapping[str, str]) -> None:
    assert "# of_mine of mine" in altered["layers/of_mine.md"]
    assert "2*T*b*d + 2*T*b" in altered["layers/of_mine.md"]
    assert "## squeeze" in altered["ops.md"]


def test_rendering_is_pure_and_deterministic(rendered: render.Site, repository: Path) -> None:
    assert render.site(repository / "site").pages == rendered.pages
    elsewhere = render_elsewhere(repository / "specs", repository, PYTHONHASHSEED="7")
    assert {path: elsewhere[path] for path in rendered.pages} == rendered.pages


def test_a_spec_outside_gets_a_page(repository: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(MINE.replace("NAME", "mine"), encoding="utf-8")
    site = render.site(repository / "site", [mine])
    assert "2*T*b*d + 2*T*b" in site.pages["layers/mine.md"]
    assert "## squeeze" in site.pages["ops.md"]
    (layers,) = (part["Layers"] for part in site.navigation if "Layers" in part)
    assert {"mine of mine": "reference/layers/mine.md"} in layers
    assert "mine" not in registry.known().layers


def test_a_spec_outside_that_is_missing_or_at_fault(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no spec file at"):
        render.site(repository / "site", [tmp_path / "none.py"])
    bad = tmp_path / "bad.py"
    bad.write_text("import nothing_of_that_name\n", encoding="utf-8")
    with pytest.raises(SpecError, match="nothing_of_that_name"):
        render.site(repository / "site", [bad])


def test_only_what_changed_is_written(tmp_path: Path) -> None:
    render.sync({"a.md": "one", "b/c.md": "two", "d/e.md": "three"}, tmp_path)
    os.utime(tmp_path / "a.md", ns=(1, 1))
    render.sync({"a.md": "one", "b/c.md": "new"}, tmp_path)
    assert (tmp_path / "a.md").stat().st_mtime_ns == 1
    assert (tmp_path / "b" / "c.md").read_text(encoding="utf-8") == "new"
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a.md", "b", "c.md"]


def test_every_formula_of_the_registry_converts() -> None:
    for known in symbols.table():
        assert mathml(known.latex).startswith("<math")
    for layer in registry.known().layers.values():
        for variant in layer.variants():
            ledger = variant.ledger()
            formulas = [variant.activations(specialise=False).latex(), variant.parameters().latex()]
            for row in (*ledger.rows, *ledger.tables):
                formulas += [row.bytes.latex(), *row.why]
            assert all("<math" in mathml(tex) for tex in formulas)


def test_math_that_cannot_be_converted_is_named() -> None:
    with pytest.raises(InputError, match=r"formula .*\\\\nosuch.*is not known"):
        mathml(r"\nosuch x")


def test_a_word_is_one_identifier_and_a_bar_an_accent() -> None:
    assert "<mi>gelu</mi>" in mathml(r"\mathrm{gelu}'(x)")
    assert '<mover accent="true">' in mathml(r"\bar x")


def test_markdown_math() -> None:
    markdown = pytest.importorskip("markdown")
    text = "The cost is $5hT^{2}b$, not `$x$`.\n\n$$34Tbd$$\n"
    html = markdown.markdown(text, extensions=["membill.render.math"])
    assert html.count("<math") == 2
    assert "<code>$x$</code>" in html
    assert 'display="block"' in html


def test_the_font_is_asked_for_the_letters_that_a_browser_draws() -> None:
    wanted = font.characters(
        ["<p>q</p><math><mi>h</mi><mi>T</mi><mi>β</mi><mo>&#x2299;</mo></math>"]
    )
    assert {"h", "\u210e", "\U0001d447", "\U0001d6fd", "⊙", "√"} <= wanted
    assert "q" not in wanted
