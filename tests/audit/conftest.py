"""Says at the end of a run how much was audited."""

from collections.abc import Callable

import pytest

AUDITED = pytest.StashKey[str]()


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
