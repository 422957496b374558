"""`membill cache`: what inference keeps, in formulas and numbers, and how many sequences fit."""

import json
import re

import pytest
from command_line import lines, message, run, section

import membill
from membill.serving import served
from membill.units import GB

LONG = ("-T", "32768", "-b", "8")


def test_a_config_json_is_a_model(repository):
    path = str(repository / "tests" / "facts" / "configs" / "gemma-3-1b.json")
    read, known = (
        json.loads(run("cache", name, *LONG, "--json").stdout) for name in (path, "gemma-3-1b")
    )
    assert read["model"] == path
    assert read["layers"] == known["layers"]
    assert read["sizes"] == known["sizes"]
    assert [layer["number"] for layer in read["layers"]] == ["L - ⌊L/6⌋", "⌊L/6⌋"]
    assert message("cache", "nowhere.json") == (
        "nowhere.json does not exist: give the path of a config.json"
    )


def test_a_hybrid_in_symbols():
    output = lines("cache", "gemma2", "--tp", "t")
    assert section(output, "layers") == [
        "layer   cache           layers  one keeps                           "
        "                          bytes",
        "gemma2  sliding-window  L/2     k (b, min(T, w), n_kv/t, d_k), "
        "v (b, min(T, w), n_kv/t, d_k)  2Lb·n_kv·d_k·min(T, w)/t",
        "gemma2  grouped-query   L/2     k (b, T, n_kv/t, d_k), v (b, T, n_kv/t, d_k)"
        "                  2LTb·n_kv·d_k/t",
    ]
    assert section(output, "on one device") == [
        "what                  bytes",
        "a token, up to T = w  4L·n_kv·d_k/t",
        "a token beyond        2L·n_kv·d_k/t",
        "a sequence            2LT·n_kv·d_k/t + 2L·n_kv·d_k·min(T, w)/t",
        "all sequences         2LTb·n_kv·d_k/t + 2Lb·n_kv·d_k·min(T, w)/t",
    ]
    assert output[-1] == "needs  t | n_kv"


def test_numbers_are_those_of_the_library():
    options = ("--dtype", "float8", "--block", "16", "--tp", "8")
    fit = ("--memory", "80GB", "--weights", "int4")
    data = json.loads(run("cache", "llama-3-70b", *LONG, *options, *fit, "--json").stdout)
    bill = membill.model("llama-3-70b").cache(b=8, T=32768, dtype="float8", block=16, tp=8)
    assert {name: each["bytes"] for name, each in data["sizes"].items()} == {
        name: bill.size(getattr(bill, name)) for name in data["sizes"]
    }
    assert data["sizes"]["total"]["bytes"] == 8 * 32768 * 327680 // 2 // 8
    found = served(bill, 80 * GB, "int4")
    assert data["fit"]["sequences"] == found.sequences > 0
    assert data["fit"]["weights"] == found.weights


def test_exact_and_in_both_units():
    table = section(lines("cache", "llama-3-70b", "-T", "8192", "-b", "32"), "on one device")
    (row,) = (line for line in table if line.startswith("all sequences"))
    assert re.split(r"  +", row)[-3:] == ["85,899,345,920 B", "85.9 GB", "80.0 GiB"]


def test_another_kind():
    output = lines("cache", "deepseek-v3", "-T", "65536", "-b", "1", "--kind", "latent-expanded")
    assert any("305 GiB" in line for line in output)
    assert "latent-expanded" in "\n".join(section(output, "layers"))


def test_pages_and_what_fits():
    options = ("-T", "1001", "--block", "16", "--memory", "24GB")
    output = lines("cache", "llama-3-8b", "-b", "1", *options)
    (waste,) = (line for line in output if line.startswith("of that, holding nothing"))
    assert waste.endswith("917,504 B")  # 7 of 1,008 tokens
    assert section(output, "sequences that fit")[-1] == "sequences           60"


def test_an_encoder_keeps_nothing():
    assert lines("cache", "bert-large", "-T", "512")[-1] == "cache  no layer keeps anything"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("llama-3-80b",), "unknown model 'llama-3-80b'. Did you mean 'llama-3-8b'?"),
        (("llama-3-8b", "--kind", "latant"), "unknown cache 'latant'. Did you mean 'latent'?"),
        (("llama-3-8b", "--dtype", "flaot8"), "unknown format 'flaot8'. Did you mean 'float8'?"),
        (("llama-3-8b", "--block", "0"), "--block = 0 is not allowed: --block is an integer > 0"),
        (
            ("llama-3-8b", "-T", "8192", "--memory", "80"),
            "--memory = '80' has no unit: give 80GB (10^9 bytes) or 80GiB (2^30)",
        ),
        (("llama-3-8b", "--memory", "80GB"), "no value for T: give -T ..."),
        (
            ("llama-3-8b", "--weights", "int4"),
            "--weights int4 says nothing by itself: give --memory with it",
        ),
        (("llama-3-8b", "-T", "8192", "-b", "1", "--tp", "3"), "3 does not divide n_kv = 8"),
        (
            ("bert-large", "-T", "8", "--memory", "80GB"),
            "model 'bert-large' caches nothing: no number of sequences fills",
        ),
    ],
)
def test_messages(arguments, expected):
    assert message("cache", *arguments).startswith(expected)
