"""How long the peak of a step takes as a formula, beside PyTorch's MemTracker on fake tensors.

Run: python benchmarks/bill_speed.py, with what the audit needs installed. Llama 3 8B at T = 8192;
both give the same number of bytes. One process for each run of the tracker.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys

RUNS = 3
LEAST = 1000
SETTINGS = "b=1, T=8192"
OURS = """
import json, time
import membill
from membill import registry

registry.load()
def timed(work, times=1):
    start = time.perf_counter()
    for _ in range(times):
        found = work()
    return (time.perf_counter() - start) / times, found

model = membill.model("llama-3-8b", norm="hugging-face")
first, peak = timed(lambda: model.peak({settings}, recipe="adam-bf16", in_place=False))
value, size = timed(lambda: peak.bytes)
lengths = iter(range(1, 8192))
again, _ = timed(lambda: peak.sizes(T=next(lengths)), 100)
total, values = peak.bill.total, peak.bill.values
bill, _ = timed(lambda: total(**{**values, "T": next(lengths)}), 100)
print(json.dumps(dict(bytes=size, derive=first, evaluate=value, again=again, bill=bill)))
"""
THEIRS = """
import json, time
import torch
from membill import registry
from membill.audit import references
from membill.audit.peak import tracked, training

shape = registry.shape("llama-3-8b")
factory = references.models()["LlamaForCausalLM"].factory
with training(
    lambda: factory(attention="flash", **shape, {settings}),
    lambda parameters: torch.optim.AdamW(parameters, foreach=True),
) as made:
    start = time.perf_counter()
    size = tracked(made)["Total"]
    print(json.dumps(dict(bytes=size, step=time.perf_counter() - start)))
"""


def measured(script: str) -> list[dict[str, float]]:
    """What each run of a script in a process of its own prints."""
    command = [sys.executable, "-c", script.replace("{settings}", SETTINGS)]
    runs = (
        subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(RUNS)
    )
    return [json.loads(run.stdout) for run in runs]


def main() -> None:
    ours, theirs = measured(OURS), measured(THEIRS)
    (size,) = {int(run["bytes"]) for run in (*ours, *theirs)}
    step = statistics.median(run["step"] for run in theirs)
    print(f"the peak of a step of Llama 3 8B at {SETTINGS}: {size:,} bytes, from both")
    print(f"  MemTracker on fake tensors           {step:12.3f} s")
    for what, text in {
        "derive": "derive all events, the first time",
        "evaluate": "evaluate the peak, the first time",
        "again": "evaluate the peak at other lengths",
        "bill": "evaluate the bill at other lengths",
    }.items():
        seconds = statistics.median(run[what] for run in ours)
        print(f"  {text:36} {1000 * seconds:9.3f} ms  {step / seconds:10,.0f} x faster")
        if what in ("again", "bill") and step < LEAST * seconds:
            sys.exit(f"less than {LEAST} times as fast as MemTracker")


if __name__ == "__main__":
    main()
