"""A real browser on the built site, and what its pages ask for and complain of."""

import http.server
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
WIDE, NARROW = 1280, 390
KINDS = [
    "index.html", "start.html", "method.html", "add-a-layer.html", "changelog.html",
    "reference/layers.html", "reference/layers/gpt.html", "reference/layers/deepseek_v3.html",
    "reference/ops.html", "reference/models.html", "reference/models/llama-3-8b.html",
    "reference/models/deepseek-v3.html", "reference/worked.html", "reference/plans.html",
    "reference/plans/tp.html", "reference/plans/ep.html", "reference/plans/pipeline.html",
    "reference/plans/recomputation.html", "reference/plans/precision.html",
    "reference/plans/adapters.html", "reference/plans/states.html",
    "reference/plans/offload.html", "reference/recipes.html", "reference/recipes/adafactor.html",
    "reference/recipes/qlora.html", "reference/inference.html", "reference/calculator.html",
    "reference/audit.html", "reference/published.html", "reference/symbols.html",
    "reference/api.html", "reference/api/membill.model.class.html",
    "reference/api/membill.spec.op.function.html", "reference/commands.html",
]  # fmt: skip
"""Pages of every kind, and the largest of some."""


def unavailable(reason: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(f"{reason}, and CI needs one")
    pytest.skip(reason)


@contextmanager
def launched() -> Iterator[Any]:
    """Chromium; without one, the test is skipped, or fails where CI is set."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        unavailable("no browser tests: the package playwright is not installed")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        unavailable(f"no browser tests: none of {', '.join(BROWSERS)} is installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


def opened(browser: Any, width: int, scheme: str, **options: Any) -> Any:
    """A page of that width; what it complains of is in `page.complaints`."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, **options
    )
    page = context.new_page()
    page.complaints = []
    page.asked = []
    page.on("console", lambda m: page.complaints.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    return page
