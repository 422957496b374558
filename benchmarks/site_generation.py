"""How long it takes to generate the site's pages, and how that grows with the number of layers.

Run: python benchmarks/site_generation.py. Each figure is the median over fresh processes. Layers
are copies of GPT-3's under other names: a page each, nothing shared but the engine.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 3
SIZES = (10, 100)
REPOSITORY = Path(__file__).resolve().parent.parent
SPEC = REPOSITORY / "specs" / "membill_specs" / "layers" / "gpt.py"
GENERATE = """
import sys, time
from pathlib import Path
from membill import render
start = time.perf_counter()
site = render.site(Path(sys.argv[1]), map(Path, sys.argv[2:]))
print(time.perf_counter() - start, len(site.pages))
"""


def generated(specs: list[Path]) -> tuple[float, int]:
    """Seconds to generate all pages with these specs' added, and how many pages there are."""
    command = [sys.executable, "-c", GENERATE, str(REPOSITORY / "site"), *map(str, specs)]
    runs = [
        subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        for _ in range(RUNS)
    ]
    return statistics.median(float(seconds) for seconds, _ in runs), int(runs[0][1])


def copies(folder: Path, number: int) -> list[Path]:
    """So many specs of layers of their own."""
    text = SPEC.read_text(encoding="utf-8")
    files = [folder / f"copy_{index}.py" for index in range(number)]
    for index, file in enumerate(files):
        own = text.replace('"gpt"', f'"copy_{index}"').replace("def gpt(", f"def copy_{index}(")
        file.write_text(own, encoding="utf-8")
    return files


def main() -> None:
    base, pages = generated([])
    print(f"the site: {pages} pages      {base:6.2f} s")
    with tempfile.TemporaryDirectory() as folder:
        every = copies(Path(folder), max(SIZES))
        for number in SIZES:
            taken, _ = generated(every[:number])
            added = 1000 * (taken - base) / number
            print(f"with {number:3} layers more      {taken:6.2f} s  {added:6.1f} ms a layer")


if __name__ == "__main__":
    main()
