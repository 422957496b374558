"""One device of a plan: its stage, its states, what is moved off it."""

from fractions import Fraction

import pytest

import membill
from membill import InputError, registry
from membill.offload import Link
from membill.symbols import L, N_d, T, b, d, m, p, t

GPT = membill.layer("gpt")
LLAMA = membill.layer("llama")
CLUSTER = {
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


def bills(device: membill.Device) -> dict[str, str]:
    return {name: str(size) for name, size in device.bills}


def test_without_a_plan_a_device_holds_all_layers() -> None:
    found = membill.device(GPT)
    assert found.stays.expr == (GPT.activations() * L).expr
    assert found.states == ()
    assert found.moved == ()


def test_a_recipe_is_kept_of_the_layers_own_parameters() -> None:
    found = membill.device(GPT, recipe="adam-mixed")
    assert bills(found)["weights"] == "24Ld² + 26Ld"
    assert bills(found)["master copy"] == "48Ld² + 52Ld"


def test_every_part_of_a_plan_divides_what_it_should() -> None:
    letters = {"tp": t, "sp": True, "schedule": "1f1b", "pp": p, "zero": 1, "recipe": "adam-mixed"}
    found = membill.device(GPT, recompute="selective", **letters)
    assert bills(found)["weights"] == "24Ld²/(tp) + 12Ld/p + 14Ld/(tp)"
    assert (
        dict(found.bills)["activations"].subs({m: 64, p: 8}).expr
        == (GPT.activations(tp=t, sp=True, recompute="selective") * L).expr
    )
    weights = dict(found.bills)["master copy"].expr
    assert (weights * N_d).expand() == 2 * dict(found.bills)["weights"].expr


def test_gpt_3_on_512_devices() -> None:
    sizes = {**membill.shape("gpt-3-175b"), "b": 1, "T": 2048}
    found = membill.device(GPT, layers=96, **CLUSTER)
    per_device = {name: size(**sizes) for name, size in found.bills}
    parameters = GPT.parameters(tp=8)(**sizes) * 12
    assert per_device["weights"] == 2 * parameters
    assert per_device["master copy"] == 4 * -(-parameters // 8)
    kept = GPT.activations(tp=8, sp=True, recompute="selective")(**sizes)
    assert per_device["activations"] == kept * 12 * 8
    assert found.stays(**sizes) == sum(per_device.values())


def test_offload_takes_bytes_off_the_device_and_over_the_link() -> None:
    sizes = {**membill.shape("gpt-3-175b"), "b": 1, "T": 2048}
    whole = membill.device(GPT, layers=96, **CLUSTER)
    found = membill.device(GPT, layers=96, offload=["moments", "gradients"], **CLUSTER)
    moved = {movement.name: traffic for movement, traffic in found.moved}
    moments = sum(row.bytes(**sizes) for row in found.states if row.state.kind == "moments")
    gradients = dict(found.bills)["gradients"](**sizes)
    assert (moved["moments"].out(**sizes), moved["moments"].into(**sizes)) == (moments, moments)
    assert (moved["gradients"].out(**sizes), moved["gradients"].into(**sizes)) == (gradients, 0)
    assert found.stays(**sizes) == whole.stays(**sizes) - moments - gradients
    link = registry.find(Link, "pcie-5-x16")
    assert moved["moments"].seconds(link, **sizes) == Fraction(moments, 64 * 10**9)


def test_activations_offloaded_leave_the_states() -> None:
    found = membill.device(LLAMA, recipe="adam-bf16", offload=["activations"])
    states = (row.bytes.expr for row in found.states)
    assert found.stays.expr == sum(states).expand()


def test_frozen_layers_and_adapters_are_the_layers_business() -> None:
    adapted = LLAMA.adapt("lora", on=["q", "v"])
    assert membill.device(adapted).stays.expr == (adapted.activations() * L).expr


def test_a_plan_can_be_kept_and_changed() -> None:
    kept = membill.plan(**CLUSTER)
    assert membill.device(GPT, kept).stays == membill.device(GPT, **CLUSTER).stays
    changed = membill.device(GPT, kept, zero=3).bills
    assert changed == membill.device(GPT, **{**CLUSTER, "zero": 3}).bills


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pp": 8}, "pp says nothing without a schedule: give schedule=..."),
        ({"chunks": 2}, "chunks says nothing without a schedule: give schedule=..."),
        ({"offload": "moments"}, "offload = 'moments': give a collection of movements' names"),
        ({"zero": 4}, "zero = 4: allowed are 0, 1, 2, 3"),
        ({"zero": True}, "zero = True: allowed are 0, 1, 2, 3"),
        ({"dp": 0}, "dp = 0: give how many, an integer > 0, or a symbol"),
        (
            {"schedule": "1f1b", "pp": 7, "layers": 96},
            "p = 7 does not divide 96; the plan needs p | 96",
        ),
    ],
)
def test_messages(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as raised:
        membill.device(GPT, **settings)
    assert str(raised.value) == message


@pytest.mark.parametrize("name", ["recipe", "schedule", "link"])
def test_an_unknown_name_is_told_with_the_known_ones(name: str) -> None:
    with pytest.raises(InputError, match=f"unknown {name} 'nothing'. Known: "):
        membill.plan(**{name: "nothing"})


def test_tokens_and_sequences_stay_symbols() -> None:
    assert {T, b, d} <= membill.device(GPT).stays.expr.free_symbols
