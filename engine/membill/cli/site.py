"""`membill site`: the reference site, by MkDocs."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import click

from membill import registry
from membill.cli.groups import Commands
from membill.errors import InputError, MembillError

SPECS = "MEMBILL_SPECS"
"""Environment variable through which the site's build learns of spec files: absolute paths,
joined by os.pathsep."""

_spec = click.option(
    "--spec",
    "specs",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Add the layers of a spec file of your own. May be repeated.",
)


@click.group(cls=Commands, subcommand_metavar="build|serve [OPTIONS]", options_metavar="")
def site() -> None:
    """Build the reference site, or serve it while you write."""


@site.command()
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path), help="Folder to build into.")
@_spec
def build(out: Path | None, specs: tuple[Path, ...]) -> None:
    """Build the reference site; a warning is an error."""
    into = ["--site-dir", str(out.resolve())] if out else []
    _mkdocs("build", ["--strict", *into], specs)


@site.command()
@click.option("--address", metavar="HOST:PORT", help="Where to serve; by default MkDocs' own.")
@_spec
def serve(address: str | None, specs: tuple[Path, ...]) -> None:
    """Serve the reference site, and build it again when a page changes."""
    _mkdocs("serve", ["--dev-addr", address] if address else [], specs)


def _mkdocs(command: str, options: list[str], specs: tuple[Path, ...]) -> None:
    """Run MkDocs in a process of its own, and end with its exit status."""
    config = _config()
    if importlib.util.find_spec("mkdocs") is None:
        raise MembillError("the site needs MkDocs: pip install 'membill[site]'")
    for path in specs:
        registry.layers_in(path)
    paths = os.pathsep.join(str(path.resolve()) for path in specs)
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", **({SPECS: paths} if paths else {})}
    arguments = [command, "--config-file", str(config), *options]
    try:
        status = subprocess.call([sys.executable, "-m", "mkdocs", *arguments], env=environment)
    except KeyboardInterrupt:
        status = 130
    sys.exit(status)


def _config() -> Path:
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "mkdocs.yml").is_file():
            return folder / "mkdocs.yml"
    raise InputError(f"no mkdocs.yml in {here} or above: run this in the repository of a site")
