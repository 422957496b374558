"""What the command line answers, for pages that show it: run, never copied."""

from __future__ import annotations

import contextlib
import shlex
from pathlib import Path

from membill.errors import InputError


def terminal(command: str, folder: Path) -> str:
    """`membill ...` and its output in a folder; InputError if the command fails."""
    from click.testing import CliRunner

    from membill.cli import program

    words = shlex.split(command)
    if words[:1] != ["membill"]:
        raise InputError(f"a page can run membill only, not {command!r}")
    with contextlib.chdir(folder):
        result = CliRunner().invoke(program, words[1:])
    if result.exit_code != 0:
        raise InputError(f"{command!r} on a page fails: {result.output.strip()}")
    return f"{command}\n\n{result.output.rstrip()}"
