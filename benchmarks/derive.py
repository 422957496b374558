"""How long it takes to derive a layer, and how that grows with the number of ops.

Run: python benchmarks/derive.py. Every figure is the median over fresh processes, since a process
derives a layer for the first time only once.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys

RUNS = 9
SIZES = (1_000, 2_000, 5_000, 10_000)
FIRST = """
import json, time
import membill
from membill import registry
from membill.formula import Formula
from membill.symbols import T, b

def timed(work):
    start = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - start)

registry.load()
sympy_first_sum = timed(lambda: T + b)
layer = membill.layer("{name}")
derive = timed(layer.activations)
formula = membill.layer("{name}").activations()
values = dict(b=1, T=2048, d=12288, h=96, n_kv=96, d_ff=49152)
print(json.dumps(dict(
    first_sum=sympy_first_sum, derive=derive,
    again=timed(membill.layer("{name}").activations),
    write=timed(lambda: str(formula)), evaluate=timed(lambda: formula(**values)),
    evaluate_again=timed(lambda: formula(**values)),
)))
"""
LONG = """
import json, time
import membill
from membill import registry
from membill.layers import Layer
from membill.symbols import T, b, d

registry.load()
T + b
from membill_specs.ops import add, dropout, gelu, layer_norm, linear

def stack(x):
    for _ in range({ops} // 5):
        x = add(x, dropout(gelu(linear(layer_norm(x), d))))
    return x

layer = Layer("stack", "", "", stack, (), {{"x": (b, T, d)}}, (), {{}})
start = time.perf_counter()
layer.activations()
spent = 1000 * (time.perf_counter() - start)
assert len(layer.graph().ops) == {ops}
print(json.dumps(dict(derive=spent)))
"""


def samples_of(*scripts: str) -> list[list[dict[str, float]]]:
    """Milliseconds by what was timed, for each script and run; the scripts take turns."""
    samples: list[list[dict[str, float]]] = [[] for _ in scripts]
    for _ in range(RUNS):
        for script, taken in zip(scripts, samples, strict=True):
            run = subprocess.run(
                [sys.executable, "-c", script], capture_output=True, text=True, check=True
            )
            taken.append(json.loads(run.stdout))
    return samples


def median(taken: list[dict[str, float]], what: str) -> float:
    return statistics.median(sample[what] for sample in taken)


def main() -> None:
    names = ("gpt", "llama")
    for name, taken in zip(
        names, samples_of(*(FIRST.format(name=name) for name in names)), strict=True
    ):
        print(f"{name}, milliseconds after import (SymPy's own first sum set apart)")
        for what in taken[0]:
            print(f"  {what:15} {median(taken, what):8.2f}")
    print("a layer of many ops: trace, collect, price and total")
    by_size = samples_of(*(LONG.format(ops=ops) for ops in SIZES))
    for ops, taken in zip(SIZES, by_size, strict=True):
        spent = median(taken, "derive")
        print(f"  {ops:6,} ops  {spent:8.1f} ms  {1000 * spent / ops:6.1f} us an op")
    pairs = [
        long["derive"] / short["derive"]
        for short, long in zip(by_size[0], by_size[-1], strict=True)
    ]
    ratio = median(by_size[-1], "derive") / median(by_size[0], "derive")
    print(f"  ratio of the medians, last to first: {ratio:.2f}")
    print(f"  ratios run by run: {min(pairs):.2f} to {max(pairs):.2f}")


if __name__ == "__main__":
    main()
