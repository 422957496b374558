"""Where each letter appears, read off the generated pages."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass

from membill import symbols
from membill.render import math

_FORMULA = re.compile(r'<math class="letters">(.*?)</math>')
_LETTER = re.compile(r"<(msub|msubsup|mi)>(.*?)</\1>")
_WRITTEN = re.compile(r"(?<![\\$`])\$([^$`\n]+)\$")
_TOKEN = re.compile(r"\\[A-Za-z]+|[A-Za-z](?:_\{\\mathrm\{\w+\}\}|_\w)?")
_TITLE = re.compile(r"^# (.*)$", re.MULTILINE)
_ASKED = re.compile(r'"symbol":"(\w+)"')


@dataclass(frozen=True)
class Place:
    """A page below the reference's folder, by its title."""

    page: str
    title: str


@dataclass(frozen=True)
class Kind:
    """The pages of one kind, in a folder of that name, with and without a letter."""

    name: str
    places: tuple[Place, ...]
    absent: tuple[Place, ...]

    @property
    def nearly_all(self) -> bool:
        """Whether it is shorter to say on which of the pages the letter is not."""
        return bool(self.name) and mostly(self.places, self.absent)


def mostly(found: Sized, absent: Sized) -> bool:
    """Whether a list is shorter as all but those that are absent."""
    return len(found) > max(1, 3 * len(absent))


def uses(pages: Mapping[str, str]) -> Mapping[str, tuple[Kind, ...]]:
    """By the name of each letter, the kinds of pages that it appears on: a folder is a kind.

    A page that is a program says which letters it asks for in a script of the same name.
    """
    kinds: dict[str, dict[Place, set[str]]] = {}
    for path, text in pages.items():
        title = _TITLE.search(text)
        if path.endswith(".md") and title:
            page = path.removesuffix(".md")
            kind = kinds.setdefault(page.rpartition("/")[0], {})
            asked = set(_ASKED.findall(pages.get(f"{page}.js", "")))
            kind[Place(page, html.unescape(title[1]))] = letters_of(text) | asked
    held = set().union(*(found for kind in kinds.values() for found in kind.values()))
    return {letter: tuple(_kinds(letter, kinds)) for letter in sorted(held)}


def letters_of(text: str) -> set[str]:
    """The names of the letters in a page's formulas, be they MathML or hand-written LaTeX."""
    by_text = {shown: known.name for shown, known in math.letters().items()}
    by_latex = {known.latex: known.name for known in symbols.table()}
    drawn = "".join(set(_FORMULA.findall(text)))
    shown = {re.sub(r"<.*?>", "", inside) for _, inside in _LETTER.findall(drawn)}
    typed = set(_TOKEN.findall(" ".join(_WRITTEN.findall(text))))
    return _known(shown, by_text) | _known(typed, by_latex)


def _known(found: Iterable[str], names: Mapping[str, str]) -> set[str]:
    """Those that are letters; a power behind an index is no part of it."""
    return {names[bare] for one in found if (bare := one.rstrip("0123456789")) in names}


def _kinds(letter: str, kinds: Mapping[str, Mapping[Place, set[str]]]) -> Iterator[Kind]:
    for name, pages in sorted(kinds.items(), key=lambda kind: (not kind[0], kind[0])):
        places = tuple(place for place, held in pages.items() if letter in held)
        if places:
            yield Kind(name, places, tuple(place for place in pages if place not in places))
