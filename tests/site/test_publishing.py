"""What a site needs to be published: previews, versions, a map, a page for what is not there."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from built import Page

import membill
from membill.render import compact, preview

PNG = b"\x89PNG\r\n\x1a\n"


def meta(page: Page) -> dict[str, str]:
    return {
        each.get("property") or each.get("name", ""): each.get("content", "")
        for each in page.of("meta")
    }


def test_every_page_says_what_a_link_to_it_shows(
    site: Path, served: str, pages: Mapping[str, Page]
) -> None:
    shown = set()
    for path, page in pages.items():
        if path == "404.html":
            continue
        said = meta(page)
        assert said["og:title"], path
        assert 0 < len(said["og:description"]) <= preview.LENGTH, path
        assert said["description"] == said["og:description"], path
        assert said["og:url"] == served + path
        image = said["og:image"].removeprefix(served)
        drawn = (site / image).read_bytes()
        assert drawn.startswith(PNG), path
        assert (int.from_bytes(drawn[16:20]), int.from_bytes(drawn[20:24])) == preview.SIZE
        shown.add((said["og:title"], said["og:description"]))
    assert len(shown) > len(pages) - 5, "pages are told apart"


def test_a_picture_is_drawn_the_same_again_and_says_something_else_of_another_page() -> None:
    pytest.importorskip("PIL")
    one = preview.picture("Membill", "GPT-3 layer", "What it keeps")
    assert one == preview.picture("Membill", "GPT-3 layer", "What it keeps")
    assert one != preview.picture("Membill", "Llama layer", "What it keeps")


def test_a_description_is_the_first_paragraph_with_text() -> None:
    page = '<h1>A</h1><p><img src="a"></p>\n<p class="x">One &amp; <em>two</em>.</p><p>Three.</p>'
    assert preview.description(page) == "One & two."
    assert preview.description("<p>" + "word " * 100) == ""
    assert len(preview.description("<p>" + "word " * 100 + "</p>")) <= preview.LENGTH


def test_every_page_has_the_version(pages: Mapping[str, Page]) -> None:
    for path, page in pages.items():
        assert f"Membill {membill.__version__}" in page.text, path


def test_the_map_has_every_page(site: Path, served: str, pages: Mapping[str, Page]) -> None:
    listed = set(re.findall("<loc>(.*?)</loc>", (site / "sitemap.xml").read_text("utf-8")))
    expected = {served + path for path in pages if path != "404.html"}
    assert {url + "index.html" if url.endswith("/") else url for url in listed} == expected


def test_what_is_not_there_leads_back(pages: Mapping[str, Page]) -> None:
    page = pages["404.html"]
    styles = [link["href"] for link in page.of("link") if link.get("rel") == "stylesheet"]
    assert all(href.startswith("/") for href in styles), "it is shown at any depth"
    assert any(link.get("href", "").endswith("/method.html") for link in page.of("a"))


def test_indentation_is_taken_out_of_pages_but_not_of_code() -> None:
    page = "<ul>\n    <li>a\n\n  b</li>\n</ul>\n<pre>\n    kept\n\n  as it is</pre>\n   <p>c</p>"
    assert compact(page) == (
        "<ul>\n<li>a\nb</li>\n</ul>\n<pre>\n    kept\n\n  as it is</pre>\n<p>c</p>"
    )
