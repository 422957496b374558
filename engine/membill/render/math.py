r"""LaTeX to MathML at build time, and the Markdown extension that does it for `$...$`.

A browser draws MathML by itself: a page needs no script, and works from `file://`. A formula whose
letters are Membill's symbols is marked as such, so that a script can say what each means.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from markdown.blockprocessors import BlockProcessor
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

from membill import symbols
from membill.errors import InputError
from membill.symbols import SymbolInfo

if TYPE_CHECKING:
    from markdown import Markdown

_ACCENTS = frozenset("\u00af^~\u02d9\u00a8")
_NAMESPACE = "http://www.w3.org/1998/Math/MathML"


@lru_cache(maxsize=4096)
def mathml(tex: str, *, block: bool = False, letters: bool = False) -> str:
    """The formula as a `<math>` element; InputError names what LaTeX could not be converted.

    letters: whether its letters are Membill's symbols, and not tensors as in a gradient formula.
    """
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
    _trim(root)
    if letters:
        root.set("class", "letters")
    return ElementTree.tostring(root, encoding="unicode")


def _trim(root: ElementTree.Element) -> None:
    """Leave out what says nothing: a page has hundreds of formulas."""
    if root.get("display") == "inline":
        del root.attrib["display"]
    if len(root) == 1 and root[0].tag == "mrow" and not root[0].attrib:
        root[:] = list(root[0])


def letters() -> Mapping[str, SymbolInfo]:
    """The symbols by the text of their MathML, by which a script finds them in a formula."""
    return {_text(known.latex): known for known in symbols.table()}


def _text(tex: str) -> str:
    return "".join(ElementTree.fromstring(mathml(tex)).itertext())


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
        found = mathml(match[1], letters=_of_symbols(match[1]))
        return self.md.htmlStash.store(found), match.start(0), match.end(0)


class _Block(BlockProcessor):
    def test(self, parent: ElementTree.Element, block: str) -> bool:
        stripped = block.strip()
        return len(stripped) > 4 and stripped.startswith("$$") and stripped.endswith("$$")

    def run(self, parent: ElementTree.Element, blocks: list[str]) -> None:
        tex = blocks.pop(0).strip()[2:-2].strip()
        holder = ElementTree.SubElement(parent, "div", {"class": "display"})
        holder.text = self.parser.md.htmlStash.store(
            mathml(tex, block=True, letters=_of_symbols(tex))
        )


def _of_symbols(tex: str) -> bool:
    """Whether hand-written math is about symbols: a bar marks the gradient of a tensor."""
    return r"\bar" not in tex


class MathExtension(Extension):
    """Turns `$...$` within text and `$$...$$` as a paragraph of its own into MathML."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Register both; after code spans, so that a dollar in code stays one."""
        md.inlinePatterns.register(_Inline(r"(?<![\\$])\$([^$\n]+)\$(?!\$)", md), "math", 185)
        md.parser.blockprocessors.register(_Block(md.parser), "math", 75)


def makeExtension(**options: Any) -> MathExtension:
    """The entry by which Markdown finds the extension: `membill.render.math`."""
    return MathExtension(**options)
