"""What textbooks ask for, against the figures that they print."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import membill
from membill import layer_activation_bytes, max_micro_batch, model_state_bytes, registry
from membill.errors import InputError
from membill.textbook import Textbook
from membill.units import GB, GIB

FACTS = tomllib.loads((Path(__file__).parent / "facts" / "published.toml").read_text("utf-8"))
WORKED = FACTS["worked"]
BOOK = next(iter(registry.everything(Textbook).values()))
SEVEN = {"L": 32, "d": 4096, "h": 32, "V": 32000, "T": 4096}

by_source = pytest.mark.parametrize("fact", WORKED, ids=lambda fact: fact["source"][:10])


def is_printed(size: int, printed: str, unit: int = GB) -> bool:
    """Whether a size is written so when rounded or cut off."""
    last = Fraction(1, 10 ** len(printed.partition(".")[2]))
    value = Fraction(size, unit) / last
    return Fraction(printed) / last in (value // 1, (value + Fraction(1, 2)) // 1)


def layers(dims: Mapping[str, int], policy: str, b: int = 1) -> int:
    own = {name: dims[name] for name in "Tdh"}
    return dims["L"] * layer_activation_bytes(**own, b=b, recompute=policy)


def logits(**letters: int) -> int:
    return int(BOOK.of_vocabulary()(**letters))


@by_source
def test_worked_examples(fact: dict[str, Any]) -> None:
    dims = fact["dims"]
    states = model_state_bytes(fact["N"], "adam-mixed")["total"]
    assert is_printed(states, fact["states"])
    for policy, printed in fact["layers"].items():
        assert is_printed(layers(dims, policy), printed), policy
    if "logits" in fact:
        assert is_printed(logits(**{name: dims[name] for name in "TbV"}), fact["logits"])
    if "total_full" in fact:
        whole = states + layers(dims, "full") + logits(**{name: dims[name] for name in "TbV"})
        assert is_printed(whole, fact["total_full"])
    if "gpus_of_80GB_for_states" in fact:
        assert -(-states // (80 * GB)) == fact["gpus_of_80GB_for_states"]


def test_micro_batches_and_the_steps_that_they_need() -> None:
    fact = WORKED[-1]
    for b, printed, steps in fact["micro_batches"]:
        assert is_printed(layers(fact["dims"], "selective", b), printed)
        tokens, each = fact["batch_tokens"], b * fact["dims"]["T"]
        own = membill.accumulation_steps(tokens, b=b, T=fact["dims"]["T"])
        assert round(Fraction(tokens, each)) == steps
        assert (own - 1) * each < tokens <= own * each  # a step more where steps were rounded down


@pytest.mark.parametrize("stage", ["1", "2", "3"])
@pytest.mark.parametrize("size", FACTS["zero"]["GB"])
def test_zero_by_dividing_what_a_stage_divides(size: str, stage: str) -> None:
    fact = FACTS["zero"]
    states = model_state_bytes(int(size), fact["recipe"])
    divided = ["master", "optimizer", "grads", "weights"][: int(stage) + 1]
    whole = sum(states[name] for name in ("weights", "grads", "master", "optimizer"))
    assert states["total"] == whole
    for devices, printed in zip(fact["devices"], fact["GB"][size][stage], strict=True):
        shared = sum(states[name] for name in divided)
        assert is_printed(whole - shared + -(-shared // devices), printed), devices


@pytest.mark.parametrize("tokens", FACTS["float32_logits"]["tokens"])
def test_float32_logits(tokens: str) -> None:
    fact = FACTS["float32_logits"]
    size = logits(b=1, T=int(tokens), V=fact["V"])
    assert is_printed(size, fact["tokens"][tokens], GIB)


def test_logits_in_16_bits() -> None:
    fact = FACTS["logits_16_bit"]
    end = membill.model("llama", loss="compute").end.ledger(membill.plan())
    sizes = [row.bytes(**fact["dims"]) for row in end.rows if "V" in row.bytes.symbols]
    assert Fraction(sum(sizes), GIB) == Fraction(fact["GiB"])


def test_states_by_name() -> None:
    mixed = {"weights": 20, "grads": 20, "master": 40, "optimizer": 80, "total": 160}
    assert model_state_bytes(10, "adam-mixed") == mixed
    assert model_state_bytes(10, "adam-bf16")["master"] == 0
    assert model_state_bytes(6.7e9, "adam-mixed") == model_state_bytes(6_700_000_000, "adam-mixed")


@pytest.mark.parametrize("policy", ["none", "selective", "full"])
def test_the_layer_is_the_registered_one(policy: str) -> None:
    formula = membill.layer("gpt").activations(recompute=policy, statistics=False)
    assert layer_activation_bytes(64, 3, 48, 4, policy) == formula(T=64, b=3, d=48, h=4)


@given(memory=st.integers(1, 10**13), policy=st.sampled_from(["none", "selective", "full"]))
def test_the_largest_micro_batch_fits_and_one_more_does_not(memory: int, policy: str) -> None:
    b = max_micro_batch(6.7e9, **SEVEN, mem_bytes=memory, recipe="adam-bf16", recompute=policy)
    states = model_state_bytes(6.7e9, "adam-bf16")["total"]

    def needed(number: int) -> int:
        each = layers(SEVEN, policy) + logits(b=1, T=SEVEN["T"], V=SEVEN["V"])
        return states + number * each

    assert needed(b + 1) > memory
    if b:
        assert needed(b) <= memory


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: model_state_bytes(6.5, "adam-mixed"), "N = 6.5: give the number of parameters"),
        (lambda: model_state_bytes(0, "adam-mixed"), "N = 0: give the number of parameters"),
        (lambda: model_state_bytes(True, "adam-mixed"), "N = True: give the number of parameters"),
        (
            lambda: model_state_bytes(10, "adam-mixd"),
            "unknown recipe 'adam-mixd'. Did you mean 'adam-mixed'?",
        ),
        (
            lambda: layer_activation_bytes(0, 1, 8, 2),
            "T = 0 is not allowed: T is an integer > 0",
        ),
        (
            lambda: layer_activation_bytes(8, 1.5, 8, 2),
            "b = 1.5 is a float; b counts, so it is an integer > 0",
        ),
        (
            lambda: layer_activation_bytes(8, 1, 8, 2, "fulll"),
            "unknown recompute policy 'fulll'. Did you mean 'full'? Known: flash, full, none",
        ),
        (
            lambda: max_micro_batch(10, 1, 8, 2, 16, 8, "80", "adam-mixed"),
            "mem_bytes = '80': give how many, an integer > 0",
        ),
    ],
)
def test_messages(call: Any, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value).startswith(expected)
