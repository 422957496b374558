"""How long pages of the built site take to their first contentful paint, from a local server.

Run: make site, then python benchmarks/site_paint.py. Medians over fresh browser contexts.
"""

from __future__ import annotations

import functools
import http.server
import shutil
import statistics
import threading
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

RUNS = 5
SITE = Path(__file__).resolve().parent.parent / "build" / "site"
PAGES = (
    "index.html", "start.html", "reference/layers/llama.html", "reference/layers/deepseek_v3.html",
    "reference/models/llama-3-8b.html", "reference/ops.html", "reference/calculator.html",
)  # fmt: skip
PAINT = """new Promise(done => new PerformanceObserver(list => {
  for (const { name, startTime } of list.getEntries()) {
    if (name === "first-contentful-paint") done(startTime);
  }
}).observe({ type: "paint", buffered: true }))"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


def painted(browser: Browser, address: str) -> float:
    """Milliseconds to the first contentful paint, nothing being cached."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(address, wait_until="networkidle")
    taken = float(page.evaluate(PAINT))
    context.close()
    return taken


def main() -> None:
    handler = functools.partial(Quiet, directory=str(SITE))
    with (
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
        sync_playwright() as playwright,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for path in PAGES:
            address = f"http://127.0.0.1:{server.server_port}/{path}"
            taken = statistics.median(painted(browser, address) for _ in range(RUNS))
            print(f"{path:36} {taken:6.0f} ms")
        server.shutdown()


if __name__ == "__main__":
    main()
