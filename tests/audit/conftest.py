"""Audits ops before what is made of them, and says in the end how much was audited."""

from collections.abc import Callable
from pathlib import Path

import pytest

AUDITED = pytest.StashKey[str]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Ops first: what is wrong with one is best told there, and shows in all that it is in."""
    ops = Path(__file__).with_name("test_ops.py")
    items.sort(key=lambda item: item.path != ops)


@pytest.fixture
def announce(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Takes a line to print when the run is over."""

    def keep(line: str) -> None:
        request.config.stash[AUDITED] = line

    return keep


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if AUDITED in config.stash:
        terminalreporter.section("audited")
        terminalreporter.line(config.stash[AUDITED])
