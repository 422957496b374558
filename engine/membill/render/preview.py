"""What a link to a page shows elsewhere: a description of a sentence or two, and a picture."""

from __future__ import annotations

import html
import io
import re
import textwrap
from functools import cache
from typing import Any

from membill.render import font

LENGTH = 200
"""Characters of a description, at most."""

SIZE = (1200, 630)
EDGE, PAPER, INK, QUIET = 80, "#24446b", "#ffffff", "#c9d6e6"
LARGE, SMALL = 68, 36
TITLE, LINES = 30, 52
"""Characters in a line of the title, and of the text beneath."""

_PARAGRAPH = re.compile(r"<p\b[^>]*>(.*?)</p>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")


def description(page: str) -> str:
    """The text of a page's first paragraph that has any, shortened at a word."""
    for found in _PARAGRAPH.findall(page):
        text = html.unescape(_TAG.sub("", found)).strip()
        if text:
            return textwrap.shorten(text, LENGTH, placeholder=" …")
    return ""


def picture(site: str, title: str, text: str) -> bytes:
    """A page's title and description as a PNG of the size that links are shown with."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", SIZE, PAPER)
    draw = ImageDraw.Draw(image)
    above = "\n".join(textwrap.wrap(title, TITLE)[:3])
    below = "\n".join(textwrap.wrap(text, LINES)[:4])
    draw.text((EDGE, EDGE), site, QUIET, _font(SMALL))
    draw.text((EDGE, 2 * EDGE), above, INK, _font(LARGE), spacing=12)
    draw.text((EDGE, SIZE[1] - EDGE), below, QUIET, _font(SMALL), spacing=10, anchor="ld")
    out = io.BytesIO()
    image.convert("P", palette=Image.Palette.ADAPTIVE, colors=16).save(out, "PNG", optimize=True)
    return out.getvalue()


@cache
def _font(size: int) -> Any:
    from PIL import ImageFont

    return ImageFont.truetype(str(font.source()), size)
