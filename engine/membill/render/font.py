"""The math font: STIX Two Math, cut down to the characters that a site's formulas use."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from membill.errors import InputError

_MATH = re.compile(r"<math\b.*?</math>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")

# A browser sets <mi>x</mi> with the mathematical italic letter, which stands nowhere in a page.
# Nor does the sign of <msqrt>, which it draws itself.
_ROOT = "√"
_ITALIC_CAPITALS, _ITALIC_SMALL, _PLANCK = 0x1D434, 0x1D44E, 0x210E
_ITALIC_GREEK = {"Α": 0x1D6E2, "α": 0x1D6FC}


def characters(pages: Iterable[str]) -> frozenset[str]:
    """Every character that the formulas of these HTML pages need, italic letters included."""
    texts = (_TAG.sub("", found) for page in pages for found in _MATH.findall(page))
    plain = frozenset("".join(html.unescape(text) for text in texts)) - {"\n"}
    return plain | {_ROOT} | frozenset(italic for letter in plain if (italic := _italic(letter)))


def _italic(letter: str) -> str:
    if letter == "h":
        return chr(_PLANCK)
    if "A" <= letter <= "Z":
        return chr(_ITALIC_CAPITALS + ord(letter) - ord("A"))
    if "a" <= letter <= "z":
        return chr(_ITALIC_SMALL + ord(letter) - ord("a"))
    for first, italic in _ITALIC_GREEK.items():
        if first <= letter <= chr(ord(first) + 24):
            return chr(italic + ord(letter) - ord(first))
    return ""


def subset(wanted: Iterable[str]) -> bytes:
    """The font as WOFF2 with these characters, their size variants and the MATH table."""
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont

    font = TTFont(source(), recalcTimestamp=False)
    cutter = Subsetter(Options(hinting=False, layout_features=["ssty", "dtls", "ccmp"]))
    cutter.populate(text="".join(sorted(wanted)))
    cutter.subset(font)
    font.flavor = "woff2"
    out = io.BytesIO()
    font.save(out)
    return out.getvalue()


def source() -> Path:
    """The file of the font in the package that brings it, which is found and not imported.

    Raises InputError if that is not installed.
    """
    package = find_spec("ziamath")
    if package is None or package.origin is None:
        raise InputError("the math font is in the package ziamath: pip install 'membill[site]'")
    return Path(package.origin).parent / "fonts" / "STIXTwoMath-Regular.ttf"
