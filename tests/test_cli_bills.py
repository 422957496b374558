"""`membill states`, `membill pipeline` and `membill frontier`."""

from __future__ import annotations

import json

import pytest
from command_line import lines, message, run, section

import membill
from membill import registry, units
from membill.frontier import frontier
from membill.pipeline import Schedule
from membill.recipe import Recipe

GPT_3 = ("--model", "gpt-3-175b", "-b", "1", "-T", "2048")
PIPELINE = ("pipeline", "gpt", "--no-statistics", "--schedule")


def test_states_of_a_recipe_in_symbols():
    assert lines("states", "adam-mixed") == [
        "Adam in mixed precision",
        "adam-mixed",
        "",
        "model states",
        "state          dtype    bytes a parameter  bytes in all",
        "weights        compute  2                  2N",
        "gradients      compute  2                  2N",
        "master copy    float32  4                  4N",
        "first moment   float32  4                  4N",
        "second moment  float32  4                  4N",
        "",
        "closed form",
        "in all  16N bytes",
    ]


def test_what_an_update_makes():
    made = "made by each update, and dropped, unless it is fused"
    assert section(lines("states", "adam-fp32"), made) == [
        "state                    dtype    bytes a parameter",
        "roots of second moments  float32  4",
    ]
    assert made not in lines("states", "adam-mixed")
    data = json.loads(run("states", "adam-bf16", "--json").stdout)
    assert [each["bits_per_parameter"] for each in data["made_by_update"]] == ["16"]


def test_states_divided_among_devices():
    output = lines("states", "adam-mixed", "--zero", "2")
    assert output[1] == "adam-mixed zero=2 dp=N_d"
    assert output[5].split() == ["weights", "compute", "2", "2N", "2N"]
    assert output[6].split() == ["gradients", "compute", "2", "2N", "2N/N_d"]
    assert section(output, "closed form") == [
        "in all         16N bytes",
        "on one device  2N + 14N/N_d bytes",
        "needs          N_d | N",
    ]


@pytest.mark.parametrize(
    ("stage", "exact", "gb"),
    [
        ("1", "31,406,250,000 B", "31.4 GB"),
        ("2", "16,640,625,000 B", "16.6 GB"),
        ("3", "1,875,000,000 B", "1.88 GB"),
    ],
)
def test_zero_stages_of_7_5_billion_parameters_on_64_devices(stage, exact, gb):
    args = ["states", "adam-mixed", "-N", "7.5e9", "--zero", stage, "--dp", "64"]
    output = lines(*args)
    assert output[1] == f"adam-mixed N=7,500,000,000 zero={stage} dp=64"
    assert output[-3].endswith(f"  {exact}")
    assert output[-2].endswith(f"  {gb}")
    data = json.loads(run(*args, "--json").stdout)
    assert units.exact(data["totals"]["on_one_device"]["bytes"]) == exact
    assert data["totals"]["in_all"]["bytes"] == 120 * 10**9
    assert (data["parameters"], data["devices"]) == (7_500_000_000, 64)


def test_a_quantised_state_counts_its_constants():
    output = lines("states", "nf4-frozen", "-N", "7e9")
    assert output[5].split()[:3] == ["weights", "4-bit", "0.516"]


def test_every_recipe_can_be_shown():
    for name, recipe in registry.everything(Recipe).items():
        model = ["--model", "llama-3-8b"] if recipe.shaped else []
        assert lines("states", name, *model, "--zero", "3", "--dp", "8")[0] == recipe.title


def test_states_by_shape_in_symbols_and_of_a_model():
    output = lines("states", "adafactor")
    assert section(output, "bytes a parameter") == [
        "state          dtype    matrices in layers, other matrices  vectors",
        "weights        compute  2                                   2",
        "gradients      compute  2                                   2",
        "master copy    float32  4                                   4",
        "second moment  float32  4/n_c + 4/n_r                       4",
        "sum                     8 + 4/n_c + 4/n_r                   12",
    ]
    assert output[-1] == "of a model  membill states adafactor --model NAME"
    data = json.loads(run("states", "adafactor", "--model", "llama-3-8b", "--json").stdout)
    assert data["parameters"] == 8_030_261_248
    assert data["totals"]["in_all"]["bytes"] == 64_254_699_520
    assert json.loads(run("states", "adafactor", "--json").stdout)["totals"] == {}


def test_states_of_a_model_with_adapters():
    output = lines(
        "states", "qlora", "--model", "llama-2-7b", "--adapt", "lora", "--on", "q,v", "--set", "r=8"
    )
    assert output[1] == "qlora model=llama-2-7b r=8"
    assert "frozen 4-bit weights  4-bit    0            0.516                       0" in output
    assert any(line.endswith("3,932,700,672 B") for line in output)


def test_stages_of_a_pipeline_in_numbers():
    output = lines(*PIPELINE, "1f1b", *GPT_3, "-p", "8", "-m", "32")
    assert output[2:4] == [
        "1F1B",
        "GPT-3 175B: L = 96, d = 12288, h = 96, b = 1, T = 2048, p = 8, m = 32",
    ]
    assert section(output, "closed form") == [
        "one layer             34Tbd + 5hT²b bytes",
        "in flight on stage i  min(m, p - i) micro-batches",
        "stage i of p          34LTbd·min(m, p - i)/p + 5LhT²b·min(m, p - i)/p bytes",
    ]
    stages = section(output, "stages")
    assert len(stages) == 1 + 8
    # The first stage holds p micro-batches of L/p layers: as much as all layers hold once.
    size = (membill.layer("gpt").activations(statistics=False) * 96)(
        **membill.shape("gpt-3-175b"), b=1, T=2048
    )
    assert stages[1].startswith("0      12      8 ")
    assert f"{size:,} B" in stages[1]
    assert [line.endswith("holds most") for line in stages[1:]] == [True] + [False] * 7


def test_stages_of_a_pipeline_in_symbols():
    output = lines(*PIPELINE, "interleaved")
    assert output[2:4] == ["Interleaved 1F1B", ""]
    (stage,) = section(output, "stages")[1:]
    assert stage.split()[:2] == ["i", "L/p"]
    assert section(output, "closed form")[-1] == "needs                 vp | L, p | m"


def test_uneven_stages_and_the_one_that_holds_most():
    output = lines(*PIPELINE, "1f1b", "--stages", "1,2,2,3", "-m", "32")
    assert section(output, "stages") == [
        "stage  layers  in flight  bytes",
        "0      1       4          136Tbd + 20hT²b",
        "1      2       3          204Tbd + 30hT²b  holds most",
        "2      2       2          136Tbd + 20hT²b",
        "3      3       1          102Tbd + 15hT²b",
    ]
    assert section(output, "closed form") == [
        "one layer             34Tbd + 5hT²b bytes",
        "in flight on stage i  min(m, p - i) micro-batches",
    ]


def test_a_pipeline_of_sharded_layers():
    output = lines(*PIPELINE, "1f1b", "--tp", "t", "--sp", "-p", "4", "-m", "8")
    assert section(output, "closed form")[0] == (
        "one layer             34Tbd/t + 5hT²b/t bytes on one device"
    )
    assert section(output, "closed form")[-1] == "needs                 t | T, t | h, t | 4d, 4 | L"


def test_every_schedule_can_be_shown():
    for name, schedule in registry.everything(Schedule).items():
        chunks = ["--chunks", "2"] if schedule.chunked else []
        output = lines(*PIPELINE, name, *GPT_3, "-p", "4", "-m", "8", *chunks)
        assert output[2] == schedule.title
        assert sum(line.endswith("holds most") for line in output) == 1


def test_json_of_a_pipeline_is_exact():
    args = [*PIPELINE, "1f1b", *GPT_3, "-p", "8", "-m", "4", "--json"]
    stages = json.loads(run(*args).stdout)["stages"]
    layer = membill.layer("gpt").activations(statistics=False)
    size = layer(**membill.shape("gpt-3-175b"), b=1, T=2048)
    assert [stage["bytes"] for stage in stages] == [
        12 * min(4, 8 - i) * size for i in range(8)
    ]  # fmt: skip
    assert [stage["most"] for stage in stages] == [True] + [False] * 7


def test_frontier_is_a_table_of_steps():
    output = lines("frontier", "gpt", *GPT_3)
    steps = frontier(
        membill.layer("gpt"), {**membill.shape("gpt-3-175b"), "b": 1, "T": 2048}
    )  # fmt: skip
    title = "recompute frontier: the result worth most bytes per FLOP goes first"
    header, start, *rows = section(output, title)
    assert header.split("  ")[0] == "dropped as well"
    assert start.split() == [f"{steps[0].kept:,}", "B", "2.87", "GB", "0.0%"]
    assert [row.split()[0] for row in rows] == [step.path for step in steps[1:]]
    assert rows[0].split()[1:] == [
        *("1,660,977,152", "B", "1.66", "GB", "1,207,959,552", "B", "0.0%"),
    ]
    assert rows[-1].endswith(" 33.3%")


def test_json_of_the_frontier_is_exact():
    data = json.loads(run("frontier", "gpt", *GPT_3, "--json").stdout)
    assert data["frontier"][0] == {"dropped": None, "kept_bytes": 2_868_936_704, "price": "0"}
    assert data["frontier"][-1]["price"] == "1/3"


def test_the_frontier_takes_no_option_that_it_would_not_heed():
    assert message("frontier", "gpt", *GPT_3, "--recompute", "full").startswith(
        "unknown option '--recompute'."
    )


RECIPES = ", ".join(sorted(registry.everything(Recipe)))
SCHEDULES = registry.everything(Schedule)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("states", "Missing argument 'RECIPE'."),
        ("states adam", f"unknown recipe 'adam'. Did you mean 'adam-mini'? Known: {RECIPES}"),
        (
            "states adam-mixed --dp 4",
            "--dp 4 divides nothing by itself: give --zero STAGE with it",
        ),
        ("states adam-mixed --zero 5", "zero = 5: allowed are 0, 1, 2, 3"),
        ("states adam-mixed --zero x", "zero = 'x': allowed are 0, 1, 2, 3"),
        (
            "states adam-mixed --zero 1 --dp 0",
            "--dp = 0 is not allowed: --dp is an integer > 0 or a symbol",
        ),
        (
            "states adam-mixed -N 7.55e1",
            "-N = 7.55e1 is not allowed: -N is an integer > 0 or a symbol",
        ),
        ("states adam-mixed -N 7.5", "-N = 7.5 is not allowed: -N is an integer > 0 or a symbol"),
        (
            "states adafactor -N 7e9",
            "recipe 'adafactor' keeps second moment by the shapes of weights, not by their number: "
            "give --model NAME",
        ),
        (
            "states lora --model llama-2-7b --adapt lora --on q",
            "model 'llama-2-7b': no value for r: give r=...",
        ),
        ("states lora --adapt lora", "--adapt lora: give --model and --on with it"),
        ("states lora --on q", "--on q: give --adapt NAME with it"),
        ("states lora --set r=8", "--set gives letters of a model: give --model NAME with it"),
        (
            "states sgd --model llama-2-7b -N 5",
            "-N 5: --model llama-2-7b has its own number",
        ),
        ("states adam-mixed -N 1e99", "-N = 1e99: at most 30 digits are allowed"),
        (
            "pipeline gpt",
            f"which schedule? Give --schedule with one of {', '.join(SCHEDULES)}",
        ),
        (
            "pipeline gpt --schedule 1f2b",
            f"unknown schedule '1f2b'. Did you mean '1f1b'? Known: {', '.join(sorted(SCHEDULES))}",
        ),
        (
            "pipeline gpt --schedule 1f1b --model gpt-3-175b -p 7",
            "p = 7 does not divide L = 96: give --stages with the layers of each",
        ),
        ("pipeline gpt --schedule 1f1b -p 5000", "p = 5000: at most 1000 stages are listed"),
        ("pipeline gpt --schedule 1f1b -p 0", "p = 0 is not allowed: p is an integer > 0"),
        (
            "pipeline gpt --schedule 1f1b --stages 1,2,2,3 -p 3",
            "--stages 1,2,2,3 has 4 stages, but p = 3",
        ),
        (
            "pipeline gpt --schedule 1f1b --stages 1,2 --model gpt-3-175b",
            "--stages 1,2 has 3 layers, but L = 96",
        ),
        (
            "pipeline gpt --schedule 1f1b --stages 1,x",
            "--stages = x is not allowed: --stages is integers > 0, such as 1,2,2,3",
        ),
        (
            "pipeline gpt --schedule 1f1b --model gpt-3-175b -p 8 --recompute full --tp 7",
            "7 does not divide h = 96; the plan needs 7 | h",
        ),
        (
            "frontier gpt",
            "no value for T, b, d, h: give -T ... -b ... --set d=... --set h=... (or --model "
            "NAME for a model's dimensions)",
        ),
    ],
)
def test_message(line, expected):
    assert message(*line.split()) == expected
