"""`membill bill` says what a step's peak is, and at which moment."""

import json

from command_line import lines, run, section

import membill
from membill import units
from membill.peak import Peak

LLAMA = ("bill", "llama-3-8b", "-b", "1", "-T", "8192", "--recipe", "adam-bf16")
TITLE = "peak of a step, without a margin"


def peak() -> Peak:
    return membill.model("llama-3-8b").peak(b=1, T=8192, recipe="adam-bf16")


def test_the_moments_of_a_step_and_the_largest() -> None:
    _, *rows = section(lines(*LLAMA), TITLE)
    found = peak().each()
    assert len(rows) == len(found)
    for row, (event, size) in zip(rows, found.items(), strict=True):
        assert row.startswith(event.name)
        assert units.exact(size) in row
        assert row.endswith("peak") is (size == peak().bytes)


def test_the_same_as_data() -> None:
    data = json.loads(run(*LLAMA, "--json").stdout)["peak"]
    assert (data["at"], data["bytes"]) == (peak().event.name, peak().bytes)
    assert sum(data["categories"].values()) == data["bytes"]
    assert max(moment["bytes"] for moment in data["moments"]) == data["bytes"]


def test_no_peak_without_values_or_training() -> None:
    for args in (("bill", "llama"), (*LLAMA[:-1], "nf4-frozen")):
        assert TITLE not in run(*args).stdout
        assert json.loads(run(*args, "--json").stdout)["peak"] is None


def test_the_stage_that_holds_most() -> None:
    more = ("--schedule", "1f1b", "-p", "4", "-m", "8")
    data = json.loads(run(*LLAMA, *more, "--json").stdout)
    settings = {"schedule": "1f1b", "pp": 4, "micro_batches": 8, "stage": data["stage"]}
    model = membill.model("llama-3-8b")
    assert data["peak"]["bytes"] == model.peak(b=1, T=8192, recipe="adam-bf16", **settings).bytes
