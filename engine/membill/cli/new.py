"""`membill new layer NAME`: a spec file to start from."""

from __future__ import annotations

import ast
import keyword
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import click

from membill import golden, registry
from membill.cli.groups import Commands
from membill.errors import InputError
from membill.layers import Layer

LAYERS = Path("specs", "membill_specs", "layers")
GOLDEN = Path("tests", "golden")


@click.group(cls=Commands, subcommand_metavar="layer NAME", options_metavar="")
def new() -> None:
    """Write files to start from."""


@new.command("layer")
@click.argument("name")
def new_layer(name: str) -> None:
    """Write a small working layer to NAME.py, to make your own of it.

    Inside the repository it goes where the other layers are, and its golden files with it.
    """
    text = _spec(name)
    layer = _derived(name, text)
    root = _repository(Path.cwd())
    if root is None:
        path = Path(f"{name}.py")
        files, shown = {path: text}, f"./{path}"
    else:
        made = golden.golden_files(layer).items()
        files = {
            root / LAYERS / f"{name}.py": text,
            **{root / GOLDEN / file: t for file, t in made},
        }
        shown = name
    _write_all(files)
    for path in files:
        click.echo(f"wrote {os.path.relpath(path)}")
    click.echo(f"{layer.title}: {layer.activations()} bytes. Next: membill show {shown}")


def _spec(name: str) -> str:
    """The text of the spec; InputError if the name is not one that a new layer can have."""
    if not (name.isascii() and name.isidentifier()) or keyword.iskeyword(name):
        raise InputError(f"layer name {name!r}: give a Python identifier, such as my_layer")
    if name in registry.known().layers:
        raise InputError(f"there is a layer {name!r} already: give another name")
    template = registry.known().templates["layer"].read_text(encoding="utf-8")
    imported = {
        alias.name
        for statement in ast.parse(template).body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    if name in imported:
        raise InputError(f"the new layer's file imports {name!r}: give the layer another name")
    title = name.replace("_", " ").strip().capitalize() or name
    return template.replace("TITLE", f"{title} layer").replace("NAME", name)


def _derived(name: str, text: str) -> Layer:
    """The layer, from a file that nobody sees: what is written must work."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        layer = registry.layers_in(path)[name]
        layer.activations()
    return layer


def _repository(start: Path) -> Path | None:
    """The nearest folder, from `start` upwards, that has both layers and golden files."""
    folders = (start, *start.parents)
    return next((f for f in folders if (f / LAYERS).is_dir() and (f / GOLDEN).is_dir()), None)


def _write_all(files: Mapping[Path, str]) -> None:
    """Write all files or none; InputError if one exists or cannot be written."""
    for path in files:
        if path.exists():
            raise InputError(f"{path} exists already: nothing written")
    written: list[Path] = []
    try:
        for path, text in files.items():
            with path.open("x", encoding="utf-8") as file:
                written.append(path)
                file.write(text)
    except OSError as error:
        for path in written:
            path.unlink()
        raise InputError(f"{error.filename or path}: {error.strerror}: nothing written") from error
