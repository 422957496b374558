"""A built page as the tests see it, and a spec of a user's own to build one from."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

MINE = r"""
from membill.spec import Declared, Tensor, layer, needs, op
from membill.symbols import d_ff

@op(source="nowhere")
def squeeze(x: Tensor) -> Declared:
    '''One number a token.'''
    y = x.like(shape=x.leading)
    return y, {x: needs(x, y, tex=r"\bar x = x y \bar y")}

@layer("NAME", title="NAME of mine")
def NAME(x: Tensor) -> Tensor:
    '''Squeezed.'''
    return squeeze(x)
"""

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
UNSEEN = {"script", "style", "title", "template", "noscript"}


@dataclass
class Page:
    """elements: (tag, attributes). text: what is read outside of code. tables: widths of rows."""

    elements: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    text: str = ""
    code: str = ""
    tables: list[list[int]] = field(default_factory=list)

    @property
    def ids(self) -> set[str]:
        return {found for _, attributes in self.elements if (found := attributes.get("id"))}

    def of(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.page.elements.append((tag, attributes))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.page.tables.append([])
        elif tag == "tr":
            self.page.tables[-1].append(0)
        elif tag in ("td", "th"):
            self.page.tables[-1][-1] += int(attributes.get("colspan", "1"))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if UNSEEN & set(self.open):
            return
        if "code" in self.open or "pre" in self.open:
            self.page.code += data
        else:
            self.page.text += data


def read(html: str) -> Page:
    reader = _Reader()
    reader.feed(html)
    reader.page.text = " ".join(reader.page.text.split())
    return reader.page


def build(source: Path, out: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """A strict build by MkDocs in a process of its own."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)]
    return subprocess.run(
        command,
        cwd=source,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "MEMBILL_SPECS": "", **env},
        capture_output=True,
        text=True,
        check=False,
    )
