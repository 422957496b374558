"""`membill bill`: what one device holds of a whole model under a plan."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import lines, message, run, section

import membill
from membill import registry, units
from membill.architecture import Architecture

LLAMA = ("bill", "llama-3-8b", "-b", "1", "-T", "8192")
GPT_3 = ("bill", "gpt-3-175b", "-b", "1", "-T", "2048", "--set", "V=51200")
CLUSTER = (
    *("--tp", "8", "--sp", "--recompute", "selective", "--schedule", "1f1b", "-p", "8"),
    *("-m", "64", "--recipe", "adam-mixed", "--dp", "8", "--zero", "1"),
)
SETTINGS = {
    "b": 1,
    "T": 2048,
    "V": 51200,
    "tp": 8,
    "sp": True,
    "recompute": "selective",
    "schedule": "1f1b",
    "pp": 8,
    "micro_batches": 64,
    "recipe": "adam-mixed",
    "dp": 8,
    "zero": 1,
}


def data(*args: str) -> dict:
    return json.loads(run(*args, "--json").stdout)


def test_one_row_for_each_entry_and_their_sum() -> None:
    bill = membill.model("llama-3-8b").bill(b=1, T=8192)
    header, *rows, last = section(lines(*LLAMA), "on one device")
    assert header.split("  ")[0] == "what"
    assert len(rows) == len(bill.entries)
    for row, entry in zip(rows, bill.entries, strict=True):
        size = bill.size(entry.bytes)
        written = (entry.category, entry.part, units.exact(size), units.gb(size), units.gib(size))
        cells = (*filter(None, written), str(entry.bytes))
        assert [cell.strip() for cell in row.split("  ") if cell.strip()] == list(cells)
    assert last.startswith("total ")
    assert units.exact(sum(bill.size(entry.bytes) for entry in bill.entries)) in last


def test_it_says_what_was_asked_for_and_what_is_not_counted() -> None:
    output = lines(
        *LLAMA, "--attention", "eager", "--recompute", "full", "--dp", "8", "--zero", "3"
    )
    assert output[0] == "Llama 3 8B"
    asked = {"attention=eager", "recipe=adam-mixed", "recompute=full", "dp=8", "zero=3"}
    assert asked <= set(output[1].split())
    assert "T = 8192" in output[2]
    left_out = membill.model("llama-3-8b").bill(b=1, T=8192).left_out
    assert [line.strip() for line in section(output, "not counted")] == list(left_out)


def test_in_symbols_it_says_what_must_divide_what() -> None:
    output = lines("bill", "gpt", "--tp", "t", "--recipe", "adam-bf16", "--no-statistics")
    table = section(output, "on one device")
    assert table[0].split() == ["what", "part", "bytes"]
    weights = "24Ld²/t + 4dV/t + 2dP + 12Ld + 14Ld/t + 4d"
    assert [row.split("  ")[-1].strip() for row in table[1:5]] == [weights] * 4
    assert "needs       t | V, t | h, t | 4d" in output


def test_numbers_are_those_of_the_library() -> None:
    found = membill.model("gpt-3-175b").bill(**SETTINGS)
    shown = data(*GPT_3, *CLUSTER)
    assert {name: size["bytes"] for name, size in shown["categories"].items()} == {
        name: found.size(size) for name, size in found.categories.items()
    }
    assert shown["total"]["bytes"] == found.bytes
    assert shown["parameters"]["parameters"] == found.size(found.parameters)
    assert (shown["stage"], shown["recipe"]) == (found.stage, "adam-mixed")


def test_every_stage_and_the_one_that_holds_most() -> None:
    bills = membill.model("gpt-3-175b").stages(**SETTINGS)
    table = section(lines(*GPT_3, *CLUSTER), "stages")[1:]
    assert [units.exact(bill.bytes) in row for bill, row in zip(bills, table, strict=True)] == (
        [True] * 8
    )
    assert [row.endswith("holds most") for row in table] == [True] + [False] * 7
    assert data(*GPT_3, *CLUSTER, "--stage", "7")["total"]["bytes"] == bills[7].bytes
    most, *others = (bill.bytes for bill in bills)
    assert most > max(others)


def test_what_is_offloaded_and_how_long_it_takes() -> None:
    arguments = (*GPT_3, *CLUSTER, "--offload", "moments,gradients")
    whole = membill.model("gpt-3-175b").bill(**SETTINGS)
    moments = sum(whole.size(whole.categories[name]) for name in ("first moment", "second moment"))
    gradients = whole.size(whole.categories["gradients"])
    assert data(*arguments)["total"]["bytes"] == whole.bytes - moments - gradients
    output = lines(*arguments, "--link", "pcie-5-x16")
    away = [row.split("  ")[0] for row in section(output, "off the device")[1:]]
    assert away == ["gradients", "first moment", "second moment"]
    table = section(output, "moved each step")
    assert table[0].endswith("at least, on pcie-5-x16")
    assert table[1].endswith(f"{moments / 64e9:.3f} s")
    assert table[2].endswith(f"{gradients / 64e9:.3f} s")
    assert "at least" not in "\n".join(lines(*arguments))


def test_a_margin_is_a_line_by_itself() -> None:
    without = data(*LLAMA)["total"]["bytes"]
    output = section(lines(*LLAMA, "--margin", "0.1", "--unit", "B"), "on one device")
    added = -(-without // 10)
    assert output[-3].split("  ")[0] == "total"
    assert units.exact(without) in output[-3]
    assert output[-2].startswith("10% margin, for fragmentation")
    assert output[-2].endswith(units.exact(added))
    assert output[-1].endswith(units.exact(without + added))


@pytest.mark.parametrize(("unit", "title"), [("GB", "in GB (10⁹ B)"), ("GiB", "in GiB (2³⁰ B)")])
def test_sizes_in_one_unit(unit: str, title: str) -> None:
    header, *rows = section(lines(*LLAMA, "--unit", unit), "on one device")
    assert [cell for cell in header.split("  ") if cell][2].strip() == title
    assert all(f" {unit} " in row for row in rows)


def test_options_are_those_of_every_part_and_stand_anywhere() -> None:
    eager = data("bill", "--attention", "eager", *LLAMA[1:], "--loss", "compute", "--tied")
    own = membill.model("llama-3-8b", attention="eager", loss="compute", tied=True)
    assert eager["total"]["bytes"] == own.bill(b=1, T=8192).bytes
    assert eager["options"]["tied"] is True


def test_adapters_and_frozen_weights() -> None:
    lora = data(*LLAMA, "--adapt", "lora", "--on", "q,v", "--set", "r=8")
    adapted = membill.model("llama-3-8b").adapt("lora", on=["q", "v"])
    assert lora["total"]["bytes"] == adapted.bill(b=1, T=8192, r=8).bytes
    assert lora["trained"] == ["adapt=lora on=q,v"]
    frozen = data(*LLAMA, "--freeze", "tokens")
    assert frozen["total"]["bytes"] == (
        membill.model("llama-3-8b").freeze("tokens").bill(b=1, T=8192).bytes
    )


def test_a_layer_of_ones_own_in_the_place_of_a_models(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    run("new", "layer", "mine")
    host = membill.model("llama-3-8b")
    own = membill.layer("./mine.py")
    shown = data("bill", "./mine.py", "--model", "llama-3-8b", "-b", "1", "-T", "8192")
    bill = host.with_layer(own).bill(b=1, T=8192)
    assert shown["total"]["bytes"] == bill.bytes
    (kept,) = (e["bytes"] for e in shown["entries"] if e["part"] == own.name)
    sizes = {**host.shape, "b": 1, "T": 8192}
    assert kept == 32 * own.activations(specialise=False)(**sizes)
    assert "layer=mine" in lines("bill", "./mine.py", "--model", "llama-3-8b")[1].split()


def test_a_layer_may_stand_in_by_name_behind_its_model() -> None:
    args = ("--model", "llama-3-8b", "llama", "-b", "1", "-T", "8192")
    assert data("bill", *args)["total"] == data(*LLAMA)["total"]


def test_every_model_can_be_shown() -> None:
    for name in (*registry.known().shapes, *registry.everything(Architecture)):
        assert lines("bill", name)[0] == membill.model(name).title


def test_a_dimension_that_is_given_comes_before_the_models() -> None:
    shown = data(*GPT_3, "--set", "d=6144", "--set", "L=48")
    assert (shown["values"]["d"], shown["values"]["L"]) == (6144, 48)
    assert not {"d_k", "d_ff"} & shown["values"].keys()
    assert shown["total"]["bytes"] < data(*GPT_3)["total"]["bytes"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--recipe", "adam"), "unknown recipe 'adam'. Did you mean 'adam"),
        (("--zero", "5"), "zero = 5: allowed are 0, 1, 2, 3"),
        (("-p", "8"), "pp says nothing without a schedule: give schedule=..."),
        (("--schedule", "1f1b", "-p", "x"), "unknown symbol 'x'."),
        (
            ("--stage", "-1"),
            "--stage -1: give the number of a stage, counted from 0, or all",
        ),
        (("--stage", "1"), "stage = 1: without a schedule there is one stage, 0"),
        (("--offload", "moment"), "unknown movement 'moment'. Did you mean 'moments'?"),
        (("--link", "pcie"), "unknown link 'pcie'."),
        (
            ("--schedule", "1f1b", "-p", "8", "--stage", "8"),
            "stage = 8: stages are counted from 0 to 7",
        ),
        (
            ("--schedule", "1f1b", "-p", "7", "-m", "7"),
            "7 does not divide L = 96; the plan needs 7 | L",
        ),
        (("--tp", "7"), "7 does not divide V = 50257; the plan needs 7 | V"),
        (("--margin", "0.5"), "margin = 1/2: give a share from 0.1 to 0.2"),
        (("--margin", "a lot"), "--margin a lot: give a share, such as 0.1"),
        (("--unit", "MB"), "unknown unit 'MB'. Did you mean 'B'? Known: B, GB, GiB"),
        (("--recompute", "mlpp"), "unknown recompute policy or scope 'mlpp'. Did you mean 'mlp'?"),
        (("--on", "q"), "--on q: give --adapt NAME with it"),
        (("--adapt", "lora"), "--adapt lora: give --on with it; allowed are attention.q,"),
        (("--freeze", "nothing"), "unknown scope to freeze 'nothing'. Known: "),
        (("--attention", "flsh"), "unknown attention 'flsh' of layer 'gpt'."),
    ],
)
def test_messages(arguments: tuple[str, ...], expected: str) -> None:
    assert message("bill", "gpt-3-175b", *arguments).startswith(expected)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "bill which model? Known: "),
        (("--json",), "bill which model? Known: "),
        (("lama-3-8b",), "unknown model 'lama-3-8b'. Did you mean 'llama-3-8b'?"),
        (("nowhere.py",), "nowhere.py is a layer: give --model NAME, a model that is to be made"),
        (("nowhere.py", "--model", "llama"), "no spec file at nowhere.py"),
        (("gpt", "--model", "lama"), "unknown model 'lama'. Did you mean 'llama'?"),
        (("gpt", "extra"), "Got unexpected extra argument (extra)"),
    ],
)
def test_messages_about_the_model(arguments: tuple[str, ...], expected: str) -> None:
    assert message("bill", *arguments).startswith(expected)
