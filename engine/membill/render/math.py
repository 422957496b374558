r"""LaTeX to MathML at build time, and the Markdown extension that does it for `$...$`.

A browser draws MathML by itself: a page needs no script, and works from `file://`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from markdown.blockprocessors import BlockProcessor
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

from membill.errors import InputError

if TYPE_CHECKING:
    from markdown import Markdown

_ACCENTS = frozenset("\u00af^~\u02d9\u00a8")
_NAMESPACE = "http://www.w3.org/1998/Math/MathML"


@lru_cache(maxsize=4096)
def mathml(tex: str, *, block: bool = False) -> str:
    """The formula as a `<math>` element; InputError names what LaTeX could not be converted."""
    from latex2mathml.converter import convert

    try:
        converted = convert(tex, display="block" if block else "inline")
    except Exception as error:
        raise InputError(f"formula {tex!r}: {type(error).__name__} {error}") from error
    if "\\" in converted:
        unknown = re.findall(r"\\[A-Za-z]*", converted)
        raise InputError(f"formula {tex!r}: {', '.join(dict.fromkeys(unknown))} is not known")
    root = ElementTree.fromstring(converted.replace(f' xmlns="{_NAMESPACE}"', ""))
    for element in root.iter():
        _join_words(element)
        _mark_accent(element)
    return ElementTree.tostring(root, encoding="unicode")


def _join_words(parent: ElementTree.Element) -> None:
    r"""Make one identifier of the letters of `\mathrm{word}`, which come each by itself."""
    if len(parent) > 1 and all(child.get("mathvariant") == "normal" for child in parent):
        word = ElementTree.Element("mi")
        word.text = "".join(child.text or "" for child in parent)
        parent[:] = [word]


def _mark_accent(element: ElementTree.Element) -> None:
    """Say of a bar above a letter that it is an accent: else it is set small, as a limit."""
    if element.tag == "mover" and len(element) == 2 and element[1].text in _ACCENTS:
        element.set("accent", "true")


class _Inline(InlineProcessor):
    def handleMatch(  # type: ignore[override]
        self, match: re.Match[str], data: str
    ) -> tuple[str, int, int]:
        return self.md.htmlStash.store(mathml(match[1])), match.start(0), match.end(0)


class _Block(BlockProcessor):
    def test(self, parent: ElementTree.Element, block: str) -> bool:
        stripped = block.strip()
        return len(stripped) > 4 and stripped.startswith("$$") and stripped.endswith("$$")

    def run(self, parent: ElementTree.Element, blocks: list[str]) -> None:
        tex = blocks.pop(0).strip()[2:-2].strip()
        holder = ElementTree.SubElement(parent, "div", {"class": "display"})
        holder.text = self.parser.md.htmlStash.store(mathml(tex, block=True))


class MathExtension(Extension):
    """Turns `$...$` within text and `$$...$$` as a paragraph of its own into MathML."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Register both; after code spans, so that a dollar in code stays one."""
        md.inlinePatterns.register(_Inline(r"(?<![\\$])\$([^$\n]+)\$(?!\$)", md), "math", 185)
        md.parser.blockprocessors.register(_Block(md.parser), "math", 75)


def makeExtension(**options: Any) -> MathExtension:
    """The entry by which Markdown finds the extension: `membill.render.math`."""
    return MathExtension(**options)
