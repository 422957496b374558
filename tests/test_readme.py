"""What the README shows is what happens."""

import doctest
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from membill.cli import program

README = Path(__file__).parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8")
COMMANDS = re.findall(r"^```console\n\$ membill (.*)\n((?:.*\n)*?)```$", TEXT, re.MULTILINE)


def test_its_python_session_gives_what_it_says():
    sessions = "\n".join(re.findall(r"^```pycon\n(.*?)```$", TEXT, re.MULTILINE | re.DOTALL))
    test = doctest.DocTestParser().get_doctest(sessions, {}, README.name, README.name, 0)
    result = doctest.DocTestRunner().run(test)
    assert result.attempted >= 8
    assert result.failed == 0


@pytest.mark.parametrize(("arguments", "shown"), COMMANDS, ids=[c for c, _ in COMMANDS])
def test_its_commands_print_what_it_shows(arguments, shown, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(program, arguments.split())
    assert result.exit_code == 0
    assert shown.strip() == result.output.strip()


def test_its_layer_can_be_shown(tmp_path):
    spec = next(code for code in re.findall(r"```python\n(.*?)```", TEXT, re.S) if "@layer" in code)
    path = tmp_path / "mine.py"
    path.write_text(spec, encoding="utf-8")
    result = CliRunner().invoke(program, ["show", str(path)])
    assert result.exit_code == 0, result.output
    assert "one layer" in result.output
