"""How long it takes to find the plans under which a model fits on so many devices.

Run: python benchmarks/fit.py. Every figure is the median over fresh processes, after import.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys

RUNS = 7
QUESTIONS = (
    ("llama-3-70b", 64, 8192),
    ("llama-3-70b", 8, 8192),
    ("llama-3-8b", 8, 8192),
    ("mixtral-8x7b", 64, 8192),
)
FIRST = """
import json, time
import membill
from membill.fit import search

def timed(work):
    start = time.perf_counter()
    found = work()
    return 1000 * (time.perf_counter() - start), found

def ask():
    return search(membill.model("{name}"), gpus={gpus}, memory=80 * 10**9, T={T})

first, found = timed(ask)
again, _ = timed(ask)
print(json.dumps(dict(first=first, again=again, offers=len(found.offers))))
"""


def main() -> None:
    print("milliseconds to search for plans on devices of 80 GB, and again in the same process")
    for name, gpus, T in QUESTIONS:
        script = FIRST.format(name=name, gpus=gpus, T=T)
        samples = []
        for _ in range(RUNS):
            run = subprocess.run(
                [sys.executable, "-c", script], capture_output=True, text=True, check=True
            )
            samples.append(json.loads(run.stdout))
        first, again, offers = (
            statistics.median(sample[what] for sample in samples)
            for what in ("first", "again", "offers")
        )
        found = f"{first:8.0f} {again:8.0f}  offers {offers:.0f}"
        print(f"  {name:14} {gpus:4} devices, T = {T:6,} {found}")


if __name__ == "__main__":
    main()
