"""Writing the pages: only what changed, and nothing left over from before."""

from __future__ import annotations

import re
from pathlib import Path

from membill.render.pages import Pages

_AS_WRITTEN = re.compile(r"(<(?P<tag>pre|script|style|textarea)\b.*?</(?P=tag)>)", re.DOTALL)
_INDENTED = re.compile(r"\s*\n\s*")


def sync(pages: Pages, folder: Path) -> None:
    """Make the folder hold these pages and no other file.

    A file that is already right is not touched, so that a server that watches the folder and
    builds on a change comes to rest.
    """
    for path, text in pages.items():
        file = folder / path
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    for file in sorted(folder.rglob("*"), reverse=True):
        if file.is_dir():
            if not any(file.iterdir()):
                file.rmdir()
        elif file.relative_to(folder).as_posix() not in pages:
            file.unlink()


def compact(page: str) -> str:
    """HTML without the indentation that templates leave, which is a tenth of a page."""
    found, end = [], 0
    for kept in _AS_WRITTEN.finditer(page):
        found += [_INDENTED.sub("\n", page[end : kept.start()]), kept[0]]
        end = kept.end()
    return "".join((*found, _INDENTED.sub("\n", page[end:])))
