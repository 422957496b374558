"""From the registry to the reference site's pages. Nothing here knows a layer by name.

`Site` is what a build needs: the pages, their navigation, hand-written pages filled in, and the
math font.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from membill.garbage import uncollected
from membill.render import font, preview
from membill.render.api import public
from membill.render.environment import environment, fill
from membill.render.files import compact, sync
from membill.render.navigation import merged, navigation
from membill.render.pages import Pages, library, pages

FOLDER = "reference"
"""Where the generated pages stand below the hand-written ones."""


@dataclass(frozen=True)
class Site:
    """A site's generated pages and navigation, with the environment to fill in the rest."""

    pages: Pages
    navigation: list[dict[str, Any]]
    environment: jinja2.Environment

    def arranged(self, written: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The navigation as mkdocs.yml has it, with the generated sections put in."""
        return merged(written, self.navigation)

    def write(self, docs: Path) -> None:
        """Write the generated pages below the hand-written ones, where they changed."""
        sync(self.pages, docs / FOLDER)

    def fill(self, text: str, where: str) -> str:
        """A page's text with its expressions put in; generated pages have none left."""
        return text if where.startswith(f"{FOLDER}/") else fill(self.environment, text, where)


@uncollected()
def site(source: Path, specs: Iterable[Path] = ()) -> Site:
    """The site whose `docs` and `templates` folders lie in `source`, with pages for `specs` too.

    Raises InputError or SpecError if a spec file is missing or at fault.
    """
    known = library(specs)
    made = environment(known, source / "templates", source / "docs")
    return Site(pages(known, made), navigation(known, public(), FOLDER), made)


def write_font(site_dir: Path, file: str) -> None:
    """Write the math font with the characters that the built pages use."""
    built = (page.read_text(encoding="utf-8") for page in sorted(site_dir.rglob("*.html")))
    target = site_dir / file
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(font.subset(font.characters(built)))


def write_picture(site_dir: Path, file: str, *shown: str) -> None:
    """Write the picture of a page: the site's name, the page's title, its description."""
    target = site_dir / file
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(preview.picture(*shown))


__all__ = [
    "FOLDER",
    "Pages",
    "Site",
    "compact",
    "library",
    "pages",
    "preview",
    "site",
    "sync",
    "write_font",
    "write_picture",
]
