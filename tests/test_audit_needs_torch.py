"""Without PyTorch all but the audit works, and the audit says what to install."""

import subprocess
import sys

import pytest

INSTALL = "the audit needs torch, which is not installed: pip install 'membill[audit]'"
HIDDEN = "import sys; sys.modules['torch'] = None; "


def run(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a Python where `import torch` fails."""
    return subprocess.run(
        [sys.executable, "-c", HIDDEN + code], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("command", ["show gpt", "audit --help", "list"])
def test_commands_work_without_torch(command: str) -> None:
    made = run(f"sys.argv = {['membill', *command.split()]!r}; import membill.cli as c; c.main()")
    assert made.returncode == 0, made.stderr


@pytest.mark.parametrize("target", ["gpt", "mine:layer --against gpt"])
def test_the_command_says_what_to_install(target: str) -> None:
    argv = ["membill", "audit", *target.split()]
    made = run(f"sys.argv = {argv!r}; import membill.cli as c; c.main()")
    assert made.returncode == 2
    assert made.stderr.splitlines() == [f"membill: {INSTALL}"]


def test_so_does_running_all_audits() -> None:
    made = run("import runpy; runpy.run_module('membill.audit', run_name='__main__')")
    assert made.returncode == 2
    assert made.stderr.splitlines()[-1] == f"membill: {INSTALL}"


@pytest.mark.parametrize(
    "call", ["saved(print)", "audit_layer(membill.layer('gpt'), {})", "reference('gpt')"]
)
def test_so_do_the_functions(call: str) -> None:
    made = run(
        "import membill; from membill import audit\n"
        f"try: audit.{call}\nexcept membill.InputError as error: print(error)"
    )
    assert made.stdout.splitlines() == [INSTALL], made.stderr
