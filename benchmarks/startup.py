"""How long `membill show gpt` takes beside `python -c "import sympy"`, side by side in one run.

Run: python benchmarks/startup.py. Medians of wall time; the commands take turns.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 11
SHOW = "import sys; from membill.cli import main; sys.argv = ['membill', 'show', 'gpt']; main()"
COMMANDS = {
    'python -c "import sympy"': [sys.executable, "-c", "import sympy"],
    'python -c "import sympy; sum"': [
        sys.executable,
        "-c",
        "import sympy; sympy.Symbol('a') + sympy.Symbol('b')",
    ],
    'python -c "import membill"': [sys.executable, "-c", "import membill"],
    "membill show gpt": [sys.executable, "-c", SHOW],
}


def main() -> None:
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(RUNS):
        for name, command in COMMANDS.items():
            start = time.perf_counter()
            subprocess.run(command, capture_output=True, check=True)
            seconds[name].append(time.perf_counter() - start)
    base = statistics.median(seconds['python -c "import sympy"'])
    for name, taken in seconds.items():
        middle = statistics.median(taken)
        print(f"{name:32} {1000 * middle:7.0f} ms  {middle / base:5.2f} x")


if __name__ == "__main__":
    main()
