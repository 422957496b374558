"""The third rule of the house: the site holds no numbers, and asks for none that do not exist."""

import re
from pathlib import Path

import pytest

from membill import render
from membill.errors import InputError

# Names that have a digit in them, and are no figures.
NAMES = ("float32", "bfloat16", "float16", "float8", "STIX Two Math")

NOT_PROSE = [
    r"\A---\n.*?\n---\n",  # front matter
    r"^```.*?^```",  # code
    r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}",  # Jinja
    r"`[^`\n]*`",
    r"<[^>]*>",
    r"\]\([^)]*\)",  # addresses of links
    r"^#+ ",
]


def prose(text: str) -> str:
    for pattern in NOT_PROSE:
        text = re.sub(pattern, " ", text, flags=re.DOTALL | re.MULTILINE)
    for name in NAMES:
        text = text.replace(name, " ")
    return text


def sources(repository: Path) -> list[Path]:
    docs = repository / "site" / "docs"
    written = [p for p in docs.rglob("*.md") if render.FOLDER not in p.relative_to(docs).parts]
    return sorted([*written, *(repository / "site" / "templates").rglob("*.j2")])


def test_the_site_holds_no_numbers(repository: Path) -> None:
    files = sources(repository)
    assert len(files) > 5
    for path in files:
        found = re.findall(r".{0,30}\d.{0,30}", prose(path.read_text(encoding="utf-8")))
        assert not found, f"{path}: {found}"


def test_the_guard_finds_a_typed_number() -> None:
    assert re.search(r"\d", prose("A layer keeps 34Tbd bytes."))
    assert not re.search(r"\d", prose("A layer keeps {{ gpt.activations() }} bytes in float32."))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n{{ no_such_name }}", "page.md:2: 'no_such_name' is undefined"),
        ('{{ layer("gtp") }}', "page.md:1: unknown layer 'gtp'. Did you mean 'gpt'?"),
        ('{{ shape("gpt-5") }}', "page.md:1: unknown model 'gpt-5'"),
        ('{{ layer("gpt").weight_of_the_moon }}', "has no attribute 'weight_of_the_moon'"),
        ("{{ 1 + }}", "page.md:1: "),
    ],
)
def test_a_name_that_does_not_exist_fails(rendered: render.Site, text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        rendered.fill(text, "page.md")
    assert message in str(error.value)
