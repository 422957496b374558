"""One strict build of the site for all tests, from a copy, in a process of its own."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from built import MINE, Page, build, read

from membill import render

pytest.importorskip("mkdocs", reason="the site is built by MkDocs: pip install 'membill[site]'")


def copied(repository: Path, folder: Path) -> Path:
    """What a build reads, without what an earlier one has written; the specs are a copy too."""
    ignore = shutil.ignore_patterns("reference", "__pycache__")
    folder.mkdir(exist_ok=True)
    for name in ("site", "specs", "engine"):
        shutil.copytree(repository / name, folder / name, ignore=ignore)
    shutil.copy(repository / "mkdocs.yml", folder)
    return folder


@pytest.fixture(scope="session")
def site(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site, which has a page for a spec file outside too."""
    source = copied(repository, tmp_path_factory.mktemp("source"))
    mine = tmp_path_factory.mktemp("outside") / "mine.py"
    mine.write_text(MINE.replace("NAME", "mine"), encoding="utf-8")
    out = tmp_path_factory.mktemp("built")
    done = build(source, out, MEMBILL_SPECS=str(mine))
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return out


@pytest.fixture
def source(repository: Path, tmp_path: Path) -> Path:
    """A copy of the repository to spoil."""
    return copied(repository, tmp_path / "source")


@pytest.fixture(scope="session")
def pages(site: Path) -> Mapping[str, Page]:
    """Every built page by its path."""
    return {
        path.relative_to(site).as_posix(): read(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
    }


@pytest.fixture(scope="session")
def rendered(repository: Path) -> render.Site:
    """The site as the renderer gives it, before MkDocs."""
    return render.site(repository / "site")
