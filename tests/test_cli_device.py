"""`membill device`: what one device holds under a whole plan."""

from __future__ import annotations

import json

import pytest
from command_line import lines, message, run, section

import membill

GPT_3 = ("--model", "gpt-3-175b", "-b", "1", "-T", "2048")
CLUSTER = (
    *("--tp", "8", "--sp", "--recompute", "selective", "--schedule", "1f1b", "-p", "8"),
    *("-m", "64", "--recipe", "adam-mixed", "--dp", "8", "--zero", "1"),
)
SETTINGS = {
    "tp": 8,
    "sp": True,
    "recompute": "selective",
    "schedule": "1f1b",
    "pp": 8,
    "micro_batches": 64,
    "recipe": "adam-mixed",
    "dp": 8,
    "zero": 1,
    "layers": 96,
}


def test_in_symbols_it_says_what_must_divide_what():
    output = lines("device", "gpt", "--tp", "t", "--recipe", "adam-bf16", "--no-statistics")
    assert section(output, "on one device") == [
        "what                            bytes",
        "weights                         24Ld²/t + 12Ld + 14Ld/t",
        "gradients                       24Ld²/t + 12Ld + 14Ld/t",
        "first moment                    24Ld²/t + 12Ld + 14Ld/t",
        "second moment                   24Ld²/t + 12Ld + 14Ld/t",
        "activations                     10LTbd + 24LTbd/t + 5LhT²b/t",
        "in all, less what is offloaded  96Ld²/t + 10LTbd + 24LTbd/t + 48Ld + 56Ld/t + 5LhT²b/t",
    ]
    assert output[-1] == "needs  t | h, t | 4d"


def test_numbers_are_those_of_the_library():
    data = json.loads(run("device", "gpt", *GPT_3, *CLUSTER, "--json").stdout)
    sizes = {**membill.shape("gpt-3-175b"), "b": 1, "T": 2048}
    found = membill.device(membill.layer("gpt"), **SETTINGS)
    assert {name: bill["bytes"] for name, bill in data["bills"].items()} == {
        name: size(**sizes) for name, size in found.bills
    }
    assert data["on_device"]["bytes"] == found.stays(**sizes)


def test_what_is_offloaded_and_how_long_it_takes():
    arguments = ("device", "gpt", *GPT_3, *CLUSTER, "--offload", "moments")
    table = section(lines(*arguments, "--link", "pcie-5-x16"), "moved each step")
    assert table[0].split("  ")[-1].strip() == "at least, on pcie-5-x16"
    sizes = {**membill.shape("gpt-3-175b"), "b": 1, "T": 2048}
    ((_, traffic),) = membill.device(membill.layer("gpt"), offload=["moments"], **SETTINGS).moved
    assert table[1].endswith(f"{traffic.out(**sizes) / 64e9:.3f} s")
    assert "at least" not in "\n".join(lines(*arguments))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--recipe", "adam"), "unknown recipe 'adam'. Did you mean 'adam-fp32'?"),
        (("--zero", "5"), "zero = 5: allowed are 0, 1, 2, 3"),
        (("-p", "8"), "pp says nothing without a schedule: give schedule=..."),
        (("--stage", "-1"), "--stage -1: give the number of a stage, counted from 0"),
        (("--offload", "moment"), "unknown movement 'moment'. Did you mean 'moments'?"),
        (("--link", "pcie"), "unknown link 'pcie'."),
        (
            ("--schedule", "1f1b", "-p", "8", "--stage", "8"),
            "stage = 8: stages are counted from 0 to 7",
        ),
        (
            ("--schedule", "1f1b", "-p", "7", "--set", "L=96"),
            "p = 7 does not divide 96; the plan needs p | 96",
        ),
    ],
)
def test_messages(arguments, expected):
    assert message("device", "gpt", *arguments).startswith(expected)
