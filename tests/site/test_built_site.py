"""The built site: complete, self-contained, without raw TeX, broken tables or dead links."""

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from built import Page, build
from click.testing import CliRunner

import membill
from membill import registry
from membill.adapter import Adapter
from membill.audit import results
from membill.cli import program
from membill.mesh import Axis
from membill.offload import Link
from membill.pipeline import Schedule
from membill.published import Published
from membill.recipe import Recipe
from membill.symbols import t

FETCHED = {
    "script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src",
    "link": "href", "image": "href", "use": "href", "object": "data", "embed": "src",
}  # fmt: skip
NAMED = ("canonical", "prev", "next")
"""Relations of links that name a page and fetch nothing."""
STATE = re.compile(r"model=[\w.-]+&b=\d+&T=\d+&recipe=[\w-]+$")
"""What the address of the calculator tells it; test_model_pages.py follows such links."""
SECTIONS = [
    "formula", "what-is-kept", "by-scope", "derivation-step-by-step",
    "variants-and-recomputation", "numbers", "charts", "parameters", "spec-source",
    "source-reference",
]  # fmt: skip


def is_remote(url: str) -> bool:
    return bool(re.match(r"\s*(?:[a-z][a-z0-9+.-]*:)?//", url, re.IGNORECASE))


def layer_pages(pages: Mapping[str, Page]) -> dict[str, Page]:
    return {name: pages[f"reference/layers/{name}.html"] for name in registry.known().layers}


def test_every_layer_has_its_page_with_the_sections_in_order(pages: Mapping[str, Page]) -> None:
    for name, page in layer_pages(pages).items():
        found = [a["id"] for a in page.of("h2") if "id" in a]
        expected = [s for s in SECTIONS if s != "charts" or "charts" in found]
        assert found == expected, name


def test_every_op_model_and_symbol_is_described(pages: Mapping[str, Page]) -> None:
    known = registry.known()
    assert known.ops.keys() <= pages["reference/ops.html"].ids
    assert known.shapes.keys() <= pages["reference/models.html"].ids


def test_nothing_is_fetched_from_elsewhere(site: Path, pages: Mapping[str, Page]) -> None:
    for path, page in pages.items():
        for tag, attributes in page.elements:
            if attributes.get("rel") not in NAMED:
                url = attributes.get(FETCHED.get(tag, ""), "")
                assert not is_remote(url), (path, tag, attributes)
            assert "url(" not in attributes.get("style", ""), (path, tag, attributes)
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        urls = re.findall(r"(?:url\(|@import)\s*[\"']?([^\"')\s]+)", text)
        assert not [url for url in urls if is_remote(url)], sheet
    for chart in site.rglob("*.svg"):  # the logo
        text = chart.read_text(encoding="utf-8")
        assert not re.findall(r"(?:href|src)\s*=\s*[\"'](?!#)", text), chart
        assert not re.findall(r"url\((?!#|\"#)", text), chart


def test_links_and_anchors_lead_somewhere(site: Path, pages: Mapping[str, Page]) -> None:
    for path, page in pages.items():
        for href in (a["href"] for a in page.of("a") if a.get("href") not in (None, "")):
            link = urlsplit(href)
            if link.scheme or link.netloc or path == "404.html":
                continue
            target = (site / path).parent / unquote(link.path) if link.path else site / path
            target = target / "index.html" if target.is_dir() else target
            assert target.is_file(), (path, href)
            if link.fragment and target.suffix == ".html":
                if STATE.match(link.fragment):
                    continue
                there = pages[target.resolve().relative_to(site.resolve()).as_posix()]
                assert unquote(link.fragment) in there.ids, (path, href)


def test_images_exist_and_say_what_they_show(site: Path, pages: Mapping[str, Page]) -> None:
    for path, page in pages.items():
        for image in page.of("img") if path != "404.html" else []:
            assert ((site / path).parent / urlsplit(image["src"]).path).is_file(), (path, image)
            assert image.get("alt"), (path, image)
        for drawing in page.of("svg"):
            is_chart = drawing.get("role") == "img"
            assert not is_chart or drawing["aria-label"].startswith(("Bar ", "Line ", "Stacked "))


def test_no_tex_is_left_in_what_is_read(pages: Mapping[str, Page]) -> None:
    for path, page in pages.items():
        assert not re.findall(r"[$\\{}]", page.text), path
    assert sum(len(page.of("math")) for page in pages.values()) > 1000


def test_code_is_shown_as_it_is_written(pages: Mapping[str, Page], repository: Path) -> None:
    for path, page in pages.items():
        assert not re.findall(r"&(?:#\d+|\w+);", page.code), path
    spec = repository / "specs" / "membill_specs" / "layers" / "gpt.py"
    assert spec.read_text(encoding="utf-8").strip() in pages["reference/layers/gpt.html"].code


def test_no_math_in_a_heading(site: Path) -> None:
    for path in site.rglob("*.html"):
        for heading in re.findall(r"<h[1-6].*?</h[1-6]>", path.read_text("utf-8"), re.DOTALL):
            assert "<math" not in heading, (path, heading)


def test_tables_keep_their_columns(pages: Mapping[str, Page]) -> None:
    count = 0
    for path, page in pages.items():
        for rows in page.tables:
            assert len(set(rows)) == 1, (path, rows)
            count += 1
    assert count > 20


def test_formulas_offer_latex_python_and_text(pages: Mapping[str, Page]) -> None:
    for name, page in layer_pages(pages).items():
        formula = registry.known().layers[name].activations()
        copied = {button["data-copy"] for button in page.of("button") if "data-copy" in button}
        assert {formula.latex(), formula.python(), str(formula)} <= copied, name


def test_the_math_font_has_what_a_browser_draws(site: Path) -> None:
    ttlib = pytest.importorskip("fontTools.ttLib")
    font = ttlib.TTFont(site / "assets" / "fonts" / "stix-two-math.woff2")
    assert "MATH" in font
    planck, italic_t, root, bar = 0x210E, 0x1D447, 0x221A, 0xAF
    assert {planck, italic_t, root, bar, ord("⊙"), ord("∑")} <= font.getBestCmap().keys()


def test_published_figures_are_on_the_pages(pages: Mapping[str, Page]) -> None:
    gpt = pages["reference/layers/gpt.html"].text
    assert "Attention matrices are 70% of activation memory" in gpt
    assert "GPT-3 175B" in gpt
    assert "41.03d" in pages["index.html"].text


def test_the_audit_is_on_each_layers_page_and_all_of_it_on_one(pages: Mapping[str, Page]) -> None:
    (found,) = results.shipped()
    known = registry.known()
    for name, page in layer_pages(pages).items():
        assert f"Equal to PyTorch {found.versions['torch']} to the byte" in page.text, name
        (run,) = (run for run in found.of_layer(known.layers[name])[0].runs if run.model)
        assert f"{run.bytes:,} B" in page.text, name
    assert "Not audited" in pages["reference/layers/mine.html"].text
    audit = pages["reference/audit.html"]
    assert {f"layer-{name}" for name in known.layers} <= audit.ids
    assert all(kind in audit.code for kind in known.ops)
    assert all(subject.module in audit.code for subject in (*found.layers, *found.models))
    assert found.date in audit.text


def test_every_plan_has_its_page(pages: Mapping[str, Page]) -> None:
    known = registry.known()
    for axis in known.of(Axis).values():
        page = pages[f"reference/plans/{axis.name}.html"]
        assert axis.source in page.text
        assert any(svg.get("role") == "img" for svg in page.of("svg")), axis.name
    pipeline = pages["reference/plans/pipeline.html"]
    assert known.of(Schedule).keys() <= pipeline.ids
    states, offload = (pages[f"reference/plans/{name}.html"] for name in ("states", "offload"))
    assert all(recipe.title in states.text for recipe in known.of(Recipe).values())
    assert all(link.title in offload.text for link in known.of(Link).values())
    adapters = pages["reference/plans/adapters.html"]
    assert {a.name for a in known.of(Adapter).values() if a.trains is not None} <= adapters.ids


def test_what_papers_say_of_plans_is_on_their_pages(pages: Mapping[str, Page]) -> None:
    copied = {button.get("data-copy") for button in pages["reference/plans/tp.html"].of("button")}
    assert membill.layer("gpt").activations(tp=t, statistics=False).python() in copied
    recomputation = pages["reference/plans/recomputation.html"]
    assert "selective recomputation saves nothing of T²" in recomputation.text


def test_the_best_segments_of_a_plain_chain(site: Path) -> None:
    html = (site / "reference" / "plans" / "recomputation.html").read_text(encoding="utf-8")
    cells = " ".join(re.findall(r'<td class="number">([^<]*)</td>', html))
    for row in ("32 5.66 4 12 32", "80 8.94 8 18 80", "96 9.80 8 20 96"):
        assert f" {row} " in cells


def test_published_formulas_are_equal_and_all_there(pages: Mapping[str, Page]) -> None:
    published = registry.known().of(Published)
    page = pages["reference/published.html"]
    assert f"{len(published)} of {len(published)} are equal" in page.text
    assert page.text.count("equals") == len(published)
    assert all(item.what in page.text and item.source in page.text for item in published.values())


def test_commands_on_pages_of_plans_run(pages: Mapping[str, Page]) -> None:
    lines = {
        line
        for path, page in pages.items()
        if path.startswith("reference/plans")
        for line in re.findall(r"^membill .*$", page.code, re.MULTILINE)
    }
    assert len(lines) > 10
    for line in lines:
        done = CliRunner().invoke(program, line.split()[1:])
        assert done.exit_code == 0, (line, done.output)


def test_a_spec_outside_the_repository_has_its_page(pages: Mapping[str, Page]) -> None:
    page = pages["reference/layers/mine.html"]
    assert "mine of mine" in page.text
    assert any(
        "layers/mine.html" in a.get("href", "") for a in pages["reference/layers.html"].of("a")
    )


@pytest.mark.parametrize(
    ("page", "specs", "message"),
    [
        ("", "no-such-file.py", "no spec file at no-such-file.py"),
        ("\n{{ no_such_name }}", "", "'no_such_name' is undefined"),
        ("\n[nowhere](no-such-page.md)", "", "no-such-page.md"),
    ],
)
def test_a_fault_fails_the_build(source: Path, page: str, specs: str, message: str) -> None:
    method = source / "site" / "docs" / "method.md"
    method.write_text(method.read_text(encoding="utf-8") + page, encoding="utf-8")
    done = build(source, source / "out", MEMBILL_SPECS=specs)
    assert done.returncode != 0
    assert message in done.stderr
    assert "Traceback" not in done.stderr
