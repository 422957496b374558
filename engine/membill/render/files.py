"""Writing the pages: only what changed, and nothing left over from before."""

from __future__ import annotations

from pathlib import Path

from membill.render.pages import Pages


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
