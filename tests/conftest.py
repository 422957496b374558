"""Options and fixtures that the tests share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from javascript import Node

settings.register_profile("membill", deadline=None, derandomize=True)
settings.load_profile("membill")

REPOSITORY = Path(__file__).resolve().parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite tests/golden from the specs"
    )


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY


@pytest.fixture(scope="session")
def node() -> Iterator[Node]:
    """A JavaScript engine that stays up for the session."""
    with Node.started() as running:
        yield running
