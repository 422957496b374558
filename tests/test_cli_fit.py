"""`membill fit` and `membill solve`: the same answers as the library's, in a terminal's words."""

from __future__ import annotations

import json

import pytest
from command_line import lines, message, run, section

import membill
from membill import units
from membill.units import GB

EIGHT = membill.model("llama-3-8b")
FIT = ("fit", "llama-3-8b", "--gpus", "8", "--memory", "80GB", "-T", "8192")
SOLVE = ("solve", "llama-3-8b", "T", "--memory", "141GB", "-b", "1", "--recipe", "adam-bf16")


def test_offers_are_those_of_the_library() -> None:
    data = json.loads(run(*FIT, "--limit", "3", "--tokens", "4e6", "--json").stdout)
    own = EIGHT.fit(gpus=8, memory=80 * GB, T=8192, limit=3, global_batch_tokens=4 * 10**6)
    assert [offer["bytes"] for offer in data["offers"]] == [offer.bytes for offer in own]
    assert [offer["at"] for offer in data["offers"]] == [offer.at for offer in own]
    assert [offer["steps"] for offer in data["offers"]] == [offer.steps for offer in own]
    assert [offer["degrees"] for offer in data["offers"]] == [offer.degrees for offer in own]
    assert data["memory"] == 80 * GB


def test_a_row_for_each_plan() -> None:
    output = lines(*FIT, "--limit", "2")
    assert output[:3] == [
        "Llama 3 8B",
        "model=llama-3-8b T=8192",
        "8 devices of 80.0 GB (74.5 GiB); what is needed is that at the fullest moment of a step",
    ]
    header, *rows = section(output, "plans that fit")
    assert header.split("  ")[0] == "recompute"
    for row, offer in zip(rows, EIGHT.fit(gpus=8, memory=80 * GB, T=8192, limit=2), strict=True):
        assert units.gb(offer.bytes) in row
        assert units.gib(offer.bytes) in row


def test_the_nearest_if_none_fits() -> None:
    output = lines("fit", "llama-3-8b", "--gpus", "1", "--memory", "24GiB", "-T", "1024")
    [title] = [line for line in output if line.startswith("no plan fits")]
    least = EIGHT.peak(b=1, T=1024, recompute="full").bytes - 24 * units.GIB
    assert title == (f"no plan fits: the nearest misses by {units.gb(least)} ({units.gib(least)})")


def test_largest_micro_batch() -> None:
    command = ("fit", "llama-3-8b", "--gpus", "8", "--memory", "80GB", "-T", "1024")
    data = json.loads(run(*command, "--largest-b", "--limit", "1", "--json").stdout)
    [own] = EIGHT.fit(gpus=8, memory=80 * GB, T=1024, b=None, limit=1)
    assert data["offers"][0]["settings"]["b"] == own.settings["b"] > 1


def test_the_longest_sequence_with_its_closed_form() -> None:
    found = EIGHT.solve("T", memory=141 * GB, b=1, recipe="adam-bf16")
    output = lines(*SOLVE)
    needed, fullest, left = section(output, f"T = {found.value:,}")
    assert needed.startswith(f"needed   {units.exact(found.needed)}, ")
    assert fullest == f"fullest  {found.at}"
    assert left.startswith(f"left     {units.exact(found.left)}, ")
    assert section(output, "closed form")[0] == "T  ⌊(M - C)/B⌋"
    data = json.loads(run(*SOLVE, "--json").stdout)
    assert (data["value"], data["bytes"], data["left"]) == (found.value, found.needed, found.left)
    assert data["at"] == found.at


def test_fewest_devices_with_their_plan() -> None:
    output = lines("solve", "llama-3-8b", "gpus", "--memory", "80GB", "-b", "1", "-T", "8192")
    found = EIGHT.solve("gpus", memory=80 * GB, b=1, T=8192)
    assert f"gpus = {found.value}" in output
    assert section(output, f"gpus = {found.value}")[0].startswith("plan ")


def test_nothing_fits() -> None:
    output = lines(
        "solve", "llama-3-8b", "zero", "--memory", "1GB", "--dp", "2", "-b", "1", "-T", "8"
    )
    missing, fullest = section(output, "nothing fits, whatever zero")
    peak = EIGHT.peak(b=1, T=8, dp=2, zero=3)
    assert missing.startswith(f"missing  {units.exact(peak.bytes - GB)}, ")
    assert fullest == f"fullest  {peak.event.name}"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((*FIT[:4], "-T", "8192"), "give --memory SIZE, such as --memory 80GB"),
        (("fit", "llama-3-8b", "--memory", "80GB"), "give --gpus INTEGER, how many devices there"),
        ((*FIT, "--memory", "80"), "--memory = '80' has no unit: give 80GB (10^9 bytes) or 80GiB"),
        ((*FIT, "--memory", "80gb"), "--memory = '80gb': gb is no unit; known are B, kB, MB, GB"),
        ((*FIT, "-T", "0"), "T = 0 is not allowed: T is an integer > 0"),
        ((*FIT, "-b", "1.5"), "b = 1.5 is not allowed: b is an integer > 0"),
        ((*FIT, "-b", "2", "--largest-b"), "-b 2: --largest-b looks for it"),
        ((*FIT, "--recipe", "adam"), "unknown recipe 'adam'."),
        ((*FIT, "--margin", "half"), "--margin half: give a share, such as 0.1"),
        ((*FIT, "--margin", "0.5"), "margin = 1/2: give a share from 0.1 to 0.2"),
        ((*FIT, "--no-statistics"), "--no-statistics and --general: what must fit is counted"),
        (("solve", "llama-3-8b", "x", "--memory", "80GB"), "unknown question 'x'."),
        ((*SOLVE, "-T", "8"), "T = 8 is given, and asked for"),
    ],
)
def test_messages(arguments: tuple[str, ...], expected: str) -> None:
    assert message(*arguments).startswith(expected)
