"""The commands, run in this process."""

from __future__ import annotations

from click.testing import CliRunner, Result

from membill.cli import program


def run(*args: str) -> Result:
    """A command that must succeed and say nothing on stderr."""
    result = CliRunner().invoke(program, args)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    return result


def lines(*args: str) -> list[str]:
    """What it prints, line by line."""
    return run(*args).stdout.splitlines()


def section(output: list[str], title: str) -> list[str]:
    """The lines below a title, up to the next empty one."""
    start = output.index(title) + 1
    return output[start : [*output[start:], ""].index("") + start]


def message(*args: str) -> str:
    """What a command that must fail says on stderr, without the prefix of every message."""
    result = CliRunner().invoke(program, args)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("membill: ")
    return result.stderr.removeprefix("membill: ").removesuffix("\n")
