"""One strict build of the site for all tests, from a copy, in a process of its own."""

import functools
import http.server
import shutil
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from browsing import Quiet, launched
from built import MINE, Page, build, read

from membill import render

pytest.importorskip("mkdocs", reason="the site is built by MkDocs: pip install 'membill[site]'")


def copied(repository: Path, folder: Path) -> Path:
    """What a build reads, without what an earlier one has written; the specs are a copy too."""
    ignore = shutil.ignore_patterns("reference", "__pycache__")
    folder.mkdir(exist_ok=True)
    for name in ("site", "specs", "engine"):
        shutil.copytree(repository / name, folder / name, ignore=ignore)
    for name in ("mkdocs.yml", "CHANGELOG.md"):
        shutil.copy(repository / name, folder)
    return folder


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A folder and the address that it is served at."""
    out = tmp_path_factory.mktemp("built")
    handler = functools.partial(Quiet, directory=str(out))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield out, f"http://127.0.0.1:{running.server_port}/"
        running.shutdown()


@pytest.fixture(scope="session")
def site(
    repository: Path, server: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The folder of the built site, which has a page for a spec file outside too."""
    source = copied(repository, tmp_path_factory.mktemp("source"))
    mine = tmp_path_factory.mktemp("outside") / "mine.py"
    mine.write_text(MINE.replace("NAME", "mine"), encoding="utf-8")
    out, address = server
    done = build(source, out, MEMBILL_SPECS=str(mine), MEMBILL_SITE_URL=address)
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


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One browser for all tests."""
    with launched() as running:
        yield running


@pytest.fixture(scope="session")
def served(site: Path, server: tuple[Path, str]) -> str:
    """The address of the built site, which it was told of."""
    return server[1]


@pytest.fixture(params=["http", "file"])
def base(request: pytest.FixtureRequest, site: Path) -> str:
    """Where the site's pages are."""
    if request.param == "file":
        return f"{site.as_uri()}/"
    return str(request.getfixturevalue("served"))
