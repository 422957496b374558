"""Plans on the command line: `show` and `eval` with meshes, adapters and recomputation."""

from __future__ import annotations

import json

import click
import pytest
from command_line import lines, message, run, section

import membill
from membill import registry
from membill.adapter import Adapter
from membill.cli.plans import plan_options
from membill.mesh import Axis
from membill.symbols import c, t

ADAPTERS = ", ".join(sorted(registry.everything(Adapter)))
GPT_3 = ("--model", "gpt-3-175b", "-b", "1", "-T", "2048")


def test_every_axis_and_switch_of_the_mesh_is_an_option():
    options = {name: option for option in plan_options() for name in option.opts}
    for axis in registry.everything(Axis).values():
        option = options[f"--{axis.name}"]
        assert isinstance(option, click.Option)
        assert option.help == f"{axis.summary} A number, or a symbol such as {axis.symbol}."
    switches = {rule.switch for rule in registry.known().rules if rule.switch}
    assert switches == {"sp"}
    switch = options["--sp"]
    assert isinstance(switch, click.Option)
    assert switch.is_flag
    assert switch.help == (
        "With --tp, divide by T what it would leave whole; T: tokens in a sequence (context "
        "length)."
    )


@pytest.mark.parametrize(
    ("options", "settings", "expected"),
    [
        (["--tp", "t"], {"tp": t}, "10Tbd + 24Tbd/t + 5hT²b/t"),
        (["--tp", "t", "--sp"], {"tp": t, "sp": True}, "34Tbd/t + 5hT²b/t"),
        (["--tp", "8"], {"tp": 8}, "13Tbd + 5hT²b/8"),
        (["--cp", "c"], {"cp": c}, "34Tbd/c + 5hT²b/c"),
        (["--tp", "1"], {"tp": 1}, "34Tbd + 5hT²b"),
    ],
)
def test_a_mesh_divides_what_one_device_keeps(options, settings, expected):
    assert str(membill.layer("gpt").activations(statistics=False, **settings)) == expected
    output = lines("show", "gpt", "--no-statistics", *options)
    assert section(output, "closed form")[0] == f"one layer   {expected} bytes on one device"


def test_show_says_what_sharding_needs_and_changed():
    output = lines("show", "gpt", "--tp", "t", "--no-statistics")
    assert output[1] == "gpt attention=eager dropout=on tp=t statistics=off"
    assert section(output, "closed form") == [
        "one layer   10Tbd + 24Tbd/t + 5hT²b/t bytes on one device",
        "parameters  12d²/t + 6d + 7d/t on one device",
        "put in      d_k = d/h, d_ff = 4d",
        "needs       t | h, t | 4d",
    ]
    changed = section(output, "changed by tp=t")
    assert changed[0].split("  ")[0] == "tensor"
    assert changed[1].split() == [
        *("attention.k", "2Tbd", "2Tbd/t", "other", "size", "attention.core.scores"),
    ]
    assert output[-4:] == [
        "one layer   10Tbd + 24Tbd/t + 5hT²b/t bytes on one device",
        "difference  24Tbd/t + 5hT²b/t - 24Tbd - 5hT²b bytes",
        "parameters  12d²/t + 6d + 7d/t on one device, before 12d² + 13d",
        "needs       t | h, t | 4d",
    ]


def test_show_says_what_recomputation_changed_and_costs():
    output = lines("show", "gpt", "--recompute", "selective")
    assert section(output, "changed by recompute=selective") == [
        "tensor                       bytes before  bytes after  change        needed by",
        "attention.k                  2Tbd          2Tbd         other reason  attention.core",
        "attention.q                  2Tbd          2Tbd         other reason  attention.core",
        "attention.core.softmax       2hT²b                      gone",
        "attention.core.dropout.mask  hT²b                       gone",
        "attention.v                  2Tbd          2Tbd         other reason  attention.core",
        "attention.core.dropout       2hT²b                      gone",
    ]
    assert output[-3:] == [
        "one layer   34Tbd + 16Tb bytes",
        "difference  -5hT²b bytes",
        "run again   4T²bd FLOPs, T/(18d + 3T) of a step without it",
    ]


def test_full_recomputation_costs_one_more_forward():
    assert section(lines("show", "gpt", "--recompute", "full"), "closed form")[-1] == (
        "run again   24Tbd² + 4T²bd FLOPs, 1/3 of a step without it"
    )


def test_what_needs_no_matrix_product_is_said_to_be_free():
    output = lines("show", "gpt", "--recompute", "norms")
    assert output[-1] == "run again   no matrix products"


def test_recomputing_what_keeps_no_squares_says_in_words_that_it_saves_none():
    words = (
        "saves       nothing of T²: without recomputation, too, no tensor with two T axes is kept"
    )
    flash = ["show", "gpt", "--attention", "flash", "--recompute"]
    assert lines(*flash, "selective")[-1] == words
    assert words not in lines(*flash, "full")
    assert words not in lines("show", "gpt", "--recompute", "selective")
    data = json.loads(run(*flash, "selective", "--json").stdout)
    assert data["changes"][0]["saves"] == words.removeprefix("saves").strip()


def test_an_adapter_and_what_it_trains():
    layer = membill.layer("llama").adapt("lora", ["q", "v"])
    output = lines("show", "llama", "--adapt", "lora", "--on", "q,v", "--no-statistics")
    assert output[1].endswith("dropout=off adapt=lora on=q,v statistics=off")
    closed = section(output, "closed form")
    assert closed[0] == f"one layer   {layer.activations(statistics=False)} bytes"
    assert closed[1:3] == [
        f"parameters  {layer.parameters()}",
        "trained     3dr + n_kv·dr/h",
    ]
    changed = section(output, "changed by adapt=lora on=q,v")
    assert [line.split()[0] for line in changed if " new " in line][:2] == [
        "attention.q.lora_a",
        "attention.v.lora_a",
    ]
    repeated = run("show", "llama", "--adapt", "lora", "--on", "q", "--on", "v", "--no-statistics")
    assert repeated.stdout.splitlines() == output


def test_the_rank_of_an_adapter_is_set_like_a_dimension():
    args = ["--model", "llama-3-8b", "-b", "1", "-T", "8192", "--set", "r=16"]
    output = run("eval", "llama", "--adapt", "lora", "--on", "q,v", *args).stdout
    layer = membill.layer("llama").adapt("lora", ["q", "v"])
    size = layer.activations()(**membill.shape("llama-3-8b"), b=1, T=8192, r=16)
    assert f" {size:,} B " in output


def test_frozen_weights_keep_nothing_for_their_gradient():
    layer = membill.layer("gpt").freeze("mlp", "attention.out")
    for given in (
        ["--freeze", "mlp,attention.out"],
        ["--freeze", "mlp", "--freeze", "attention.out"],
    ):
        output = lines("show", "gpt", *given)
        assert output[1] == "gpt attention=eager dropout=on freeze=mlp,attention.out"
        assert f"one layer           {layer.activations()} bytes" in output
        assert f"trained             {layer.trainable_parameters()}" in output


def test_each_stage_of_a_plan_has_its_changes_in_order():
    args = ["--precision", "autocast", "--freeze", "mlp", "--recompute", "selective", "--tp", "t"]
    output = lines("show", "gpt", *args)
    assert [line for line in output if line.startswith("changed by")] == [
        "changed by precision=autocast",
        "changed by freeze=mlp",
        "changed by recompute=selective",
        "changed by tp=t",
    ]
    assert output[1] == (
        "gpt attention=eager dropout=on precision=autocast freeze=mlp recompute=selective tp=t"
    )
    assert not any(line.startswith("changed by") for line in lines("show", "gpt"))


def test_a_stage_that_changes_nothing_says_so():
    output = lines("show", "gpt", "--sp", "--no-statistics")
    assert section(output, "changed by sp=on") == [
        "one layer   34Tbd + 5hT²b bytes on one device",
        "difference  no bytes",
    ]


def test_json_of_show_has_the_plan():
    args = ["--tp", "t", "--sp", "--recompute", "full", "--adapt", "lora", "--on", "q"]
    data = json.loads(run("show", "gpt", *args, "--json").stdout)
    layer = membill.layer("gpt").adapt("lora", ["q"])
    plan = membill.plan(recompute="full", tp=t, sp=True)
    assert data["mesh"] == {"tp": "t", "sp": True}
    assert data["adapter"] == {"name": "lora", "on": ["q"]}
    assert data["total"]["text"] == str(layer.activations(plan))
    assert data["parameters"]["text"] == str(layer.parameters(plan))
    assert data["trained_parameters"]["text"] == str(layer.trainable_parameters(plan))
    assert data["conditions"] == list(map(str, layer.activations(plan).conditions))
    assert data["price"]["run_again"]["text"] == str(layer.price(plan).rerun)
    last = data["changes"][-1]
    assert last["stage"] == "tp=t sp=on"
    assert last["total"] == data["total"]
    assert [change["change"] for change in last["changes"]] == ["other size"]


def test_eval_puts_numbers_on_a_plan():
    output = lines("eval", "gpt", *GPT_3, "--tp", "8", "--sp", "--recompute", "selective")
    layer, plan = membill.layer("gpt"), membill.plan(tp=8, sp=True, recompute="selective")
    values = {**membill.shape("gpt-3-175b"), "b": 1, "T": 2048}
    parameters = layer.parameters(plan)
    assert section(output, "closed form") == [
        "one layer           17Tbd/4 + 2Tb bytes on one device",
        "without statistics  17Tbd/4 bytes on one device",
        f"parameters          {parameters} on one device: {parameters(**values):,}",
        "needs               8 | T, 8 | h, 8 | 4d",
        "run again           4T²bd FLOPs, T/(18d + 3T) of a step without it: 0.9%",
    ]
    assert f"exact            {layer.activations(plan)(**values):,} B" in output[-5]


def test_eval_takes_the_value_of_a_symbolic_degree():
    symbolic = lines("eval", "gpt", *GPT_3, "--tp", "t", "--sp", "--set", "t=8")
    assert symbolic[-5:] == lines("eval", "gpt", *GPT_3, "--tp", "8", "--sp")[-5:]


def test_json_of_eval_has_the_price_as_an_exact_fraction():
    data = json.loads(run("eval", "gpt", *GPT_3, "--recompute", "full", "--json").stdout)
    assert data["price"]["value"] == "1/3"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("show gpt --tp 0", "--tp = 0 is not allowed: --tp is an integer > 0 or a symbol"),
        ("show gpt --tp 2.5", "--tp = 2.5 is not allowed: --tp is an integer > 0 or a symbol"),
        ("show gpt --on q", "--on q: give --adapt NAME with it"),
        (
            "show gpt --adapt lora",
            "--adapt lora: give --on with it; allowed are attention.q, attention.k, attention.v, "
            "attention.out, mlp.up, mlp.down",
        ),
        (
            "show gpt --adapt lra --on q",
            f"unknown adapter 'lra'. Did you mean 'lora'? Known: {ADAPTERS}",
        ),
        (
            "show gpt --adapt lora --on qq",
            "unknown place for adapter lora 'qq'. Known: attention.k, attention.out, attention.q, "
            "attention.v, mlp.down, mlp.up",
        ),
        ("show gpt --precision autocst", "unknown precision 'autocst'. Did you mean 'autocast'? "
         "Known: autocast"),
        (
            "eval gpt --model gpt-3-175b -b 1 -T 2048 --tp 7",
            "7 does not divide h = 96; the plan needs 7 | h",
        ),
        (
            "eval gpt --model gpt-3-175b -b 1 -T 2048 --tp t --set t=7",
            "t = 7 does not divide h = 96; the plan needs t | h",
        ),
        (
            "eval gpt --model gpt-3-175b -b 1 -T 2048 --tp 7 --recompute full",
            "7 does not divide h = 96; the plan needs 7 | h",
        ),
        ("eval gpt --model gpt-3-175b -b 1 -T 8 --tp t", "no value for t: give --set t=..."),
    ],
)  # fmt: skip
def test_message(line, expected):
    assert message(*line.split()) == expected


def test_a_scope_to_freeze_must_hold_weights():
    assert message("show", "gpt", "--freeze", "mpl").startswith("unknown scope to freeze 'mpl'.")
