"""The most and the least that fit: each answer fits, and the next one does not."""

from __future__ import annotations

import math
import tomllib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.parsing.sympy_parser import parse_expr

import membill
from membill import crossover, dominant, increase, symbols
from membill.errors import InputError
from membill.formula import Formula
from membill.growth import exceeds_from
from membill.solve import Solution
from membill.symbols import L, M, T, b, t
from membill.units import GB, percent

FACTS = tomllib.loads((Path(__file__).parent / "facts" / "published.toml").read_text("utf-8"))
LETTERS = {info.name: info.symbol for info in symbols.table()}
EIGHT = membill.model("llama-3-8b")
GPT_2 = membill.model("gpt-2-124m")
PIPELINE = {"schedule": "1f1b", "micro_batches": 8}
H200 = 141 * GB

PLANS: dict[str, dict[str, Any]] = {
    "one device": {"recipe": "adam-bf16"},
    "full": {"recompute": "full", "recipe": "adam-bf16"},
    "tensors": {"tp": 8, "sp": True},
    "pipeline": {"pp": 4, "tp": 2, **PIPELINE},
    "margin": {"tp": 8, "margin": 0.1},
    "shards": {"dp": 3, "zero": 3, "cp": 4},
}


def peak(model: membill.Model, margin: float = 0, **settings: Any) -> int:
    """The peak of a step on the fullest stage, with the margin."""
    own = model.peak(**settings).bytes
    return own + math.ceil(own * Fraction(str(margin)))


def fits(model: membill.Model, memory: int, **settings: Any) -> bool:
    """Whether the peak is within the memory."""
    return peak(model, **settings) <= memory


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("model", [EIGHT, GPT_2.variant(attention="eager")], ids=["linear", "T²"])
def test_the_longest_sequence_is_the_longest(model: membill.Model, plan: str) -> None:
    settings = PLANS[plan]
    if model.shape["V"] % settings.get("tp", 1):
        settings = {**settings, "V": 50304}
    if model.shape["h"] % settings.get("tp", 1):
        settings = {**settings, "tp": 4}
    if "P" in model.shape:
        settings = {**settings, "P": 2**20}
    found = model.solve("T", memory=H200, b=1, **settings)
    step = settings.get("tp", 1) if settings.get("sp") else settings.get("cp", 1)
    assert found.value > 0
    assert found.value % step == 0
    assert found.needed == peak(model, b=1, T=found.value, **settings)
    assert found.left == H200 - found.needed >= 0
    assert not fits(model, H200, b=1, T=found.value + step, **settings)
    at = {name: value for name, value in settings.items() if name != "margin"}
    assert found.at == model.peak(b=1, T=found.value, **at).event.name


@pytest.mark.parametrize("plan", PLANS)
def test_the_closed_form_is_the_value_before_rounding(plan: str) -> None:
    own = PLANS[plan]
    found = EIGHT.solve("T", memory=H200, b=2, **own)
    room = int(H200 / (1 + Fraction(str(own.get("margin", 0)))))
    put = {LETTERS[name]: size for name, size in {**EIGHT.shape, "b": 2}.items()} | {M: room}
    exact = sympy.floor(found.form.subs(put))
    step = own.get("tp", 1) if own.get("sp") else own.get("cp", 1)
    assert exact // step * step == found.value


@settings(max_examples=30)
@given(memory=st.integers(10**9, 10**12), b_or_T=st.booleans(), other=st.integers(1, 300))
def test_of_any_memory(memory: int, b_or_T: bool, other: int) -> None:
    asked, fixed = ("b", "T") if b_or_T else ("T", "b")
    model, given_ = GPT_2.variant(attention="eager"), {fixed: other}
    found = model.solve(asked, memory=memory, **given_)
    at = {asked: found.value or 1}
    assert found.needed == peak(model, **given_, **at) == memory - found.left
    assert (found.value > 0) == (found.bill is not None) == (found.left >= 0)
    if asked == "b" or found.value < model.shape["P"]:
        assert not fits(model, memory, **given_, **{asked: found.value + 1})


def test_no_sequence_is_longer_than_the_positions() -> None:
    found = GPT_2.solve("T", memory=H200, b=1)
    assert found.value == GPT_2.shape["P"]
    assert found.bill.values["T"] == found.value
    assert found.size is None
    assert found.form is None
    assert GPT_2.solve("T", memory=H200, b=1, cp=3).value == GPT_2.shape["P"] // 3 * 3


def test_the_smallest_stage_and_degree() -> None:
    run = {"b": 1, "T": 8192}
    zero = EIGHT.solve("zero", memory=80 * GB, dp=8, **run)
    assert zero.value == next(
        stage for stage in range(4) if fits(EIGHT, 80 * GB, dp=8, zero=stage, **run)
    )
    degree = EIGHT.solve("tp", memory=80 * GB, **run)
    assert degree.value == next(n for n in (1, 2, 4, 8) if fits(EIGHT, 80 * GB, tp=n, **run))
    assert peak(EIGHT, tp=degree.value, **run) == degree.needed == 80 * GB - degree.left


def test_the_fewest_devices() -> None:
    run = {"b": 1, "T": 8192, "recompute": "full", "tp": 1, "cp": 1, "pp": 1}
    found = EIGHT.solve("gpus", memory=40 * GB, **run)
    held = {"recompute": "full", "b": 1, "T": 8192, "zero": 3}
    assert fits(EIGHT, 40 * GB, dp=found.value, **held)
    assert not fits(EIGHT, 40 * GB, dp=found.value - 1, **held)
    assert found.offer.gpus == found.value


def test_the_fewest_devices_with_degrees_given() -> None:
    run = {"b": 1, "T": 8192, "tp": 4, "zero": 1, "cp": 1, "pp": 1, "recompute": "none"}
    found = EIGHT.solve("gpus", memory=40 * GB, **run)
    held = {name: value for name, value in run.items() if value != 1 or name in ("b", "zero")}
    assert found.value % 4 == 0
    assert fits(EIGHT, 40 * GB, dp=found.value // 4, **held)
    assert not fits(EIGHT, 40 * GB, dp=found.value // 4 - 1, **held)


def test_what_is_moved_off_the_devices_needs_none() -> None:
    run = {"b": 1, "T": 1024, "recompute": "full"}
    away = EIGHT.solve("gpus", memory=40 * GB, offload=("moments",), **run)
    assert away.value == next(
        gpus
        for gpus in (1, 2, 3, 4)
        if EIGHT.fit(gpus=gpus, memory=40 * GB, offload=("moments",), **run)
    )
    assert away.value < EIGHT.solve("gpus", memory=40 * GB, **run).value


def test_a_recipe_that_trains_nothing_is_bounded_by_its_bill() -> None:
    run = {"b": 1, "recipe": "nf4-frozen"}
    found = EIGHT.solve("T", memory=80 * GB, **run)
    sizes = [EIGHT.bill(T=T, **run).bytes for T in (found.value, found.value + 1)]
    assert found.needed == found.bill.bytes == sizes[0] <= 80 * GB < sizes[1]
    assert found.at == ""


def test_no_number_of_devices_is_enough() -> None:
    run = {"b": 1, "T": 8192, "tp": 1, "cp": 1, "pp": 1, "recompute": "none"}
    found = EIGHT.solve("gpus", memory=10 * GB, **run)
    assert (found.value, found.bill, found.left) == (None, None, None)


def test_if_nothing_fits_it_says_how_much_is_missing() -> None:
    least = EIGHT.peak(b=1, T=1, recipe="adam-bf16")
    found = EIGHT.solve("T", memory=10 * GB, b=1, recipe="adam-bf16")
    assert (found.value, found.bill, found.left) == (0, None, 10 * GB - least.bytes)
    assert (found.at, found.size) == (least.event.name, least.event.total)
    none = EIGHT.solve("zero", memory=1 * GB, b=1, T=64, dp=2)
    assert (none.value, none.bill) == (None, None)
    assert none.left == 1 * GB - peak(EIGHT, b=1, T=64, dp=2, zero=3)


def test_what_a_letter_does_not_change_has_no_closed_form() -> None:
    size = membill.layer("llama").parameters()
    found = Solution("T", 0, None, 1, "update", -1, size=size)
    assert found.form is None
    with_T = replace(found, size=size + Formula(3 * T, size.unit))
    assert with_T.form == (M - size.expr) / 3


def test_where_squares_take_over() -> None:
    gpt = membill.layer("gpt")
    assert crossover(gpt) == parse_expr(FACTS["crossover"]["text"], local_dict=LETTERS)
    whole = membill.model("gpt").activations(statistics=False)
    meet = crossover(membill.model("gpt"))
    square = whole.expr.coeff(T, 2) * meet**2
    assert sympy.simplify(2 * square - whole.expr.subs(T, meet)) == 0
    with pytest.raises(InputError, match=r"^llama: nothing that is kept grows with T²"):
        crossover(membill.layer("llama"))


def test_terms_by_size() -> None:
    fact = FACTS["gpt3"]
    formula = membill.layer("gpt").activations(statistics=False)
    first, second = dominant(formula, b=1, T=fact["T"], d=12288, h=96)
    assert first.expr.coeff(T, 2) != 0
    assert first.share > second.share > 0
    assert first.share + second.share == 1
    assert percent(first.share) == fact["percent"]


@pytest.mark.parametrize("letter", [b, T, L])
def test_one_more(letter: sympy.Symbol) -> None:
    total = EIGHT.bill(b=1, T=64).total
    sizes = {**EIGHT.shape, "b": 3, "T": 64}
    more = {**sizes, str(letter): sizes[str(letter)] + 1}
    assert increase(total, letter)(**sizes) == total(**more) - total(**sizes)


def test_one_more_token_needs_what_the_formula_needs() -> None:
    divided = membill.layer("gpt").activations(tp=t, sp=True)
    sizes = {"b": 1, "T": 64, "d": 64, "h": 8, "t": 8}
    assert increase(divided, T, t)(**sizes) == divided(**{**sizes, "T": 72}) - divided(**sizes)
    with pytest.raises(InputError, match="does not divide T \\+ 1 = 65"):
        increase(divided, T)(**sizes)


@pytest.mark.parametrize(
    ("asked", "given_", "expected"),
    [
        ("t", {}, "unknown question 't'."),
        ("T", {"b": 1, "T": 8}, "T = 8 is given, and asked for"),
        ("T", {"b": 0}, "b = 0 is not allowed: b is an integer > 0"),
        ("T", {"b": 1.5}, "b = 1.5 is a float; b counts, so it is an integer > 0"),
        ("T", {}, "no value for b: give it as b=..."),
        ("T", {"b": 1, "recipe": "adam"}, "unknown recipe 'adam'."),
        ("T", {"b": 1, "memory": "80"}, "memory = '80': give the bytes of one device as an int"),
        ("T", {"b": 1, "memory": 80.0}, "memory = 80.0: give the bytes of one device as an int"),
        ("T", {"b": 1, "tp": 3}, "3 does not divide h = 32"),
        ("zero", {"b": 1, "T": 8}, "dp has no number: give dp=..."),
        ("zero", {"b": 1, "T": 8, "dp": 2, "tp": 5}, "5 does not divide V = 128256"),
    ],
)
def test_messages(asked: str, given_: dict[str, Any], expected: str) -> None:
    with pytest.raises(InputError) as caught:
        EIGHT.solve(asked, **{"memory": 80 * GB, **given_})
    assert str(caught.value).startswith(expected)


def test_the_least_number_from_which_one_formula_exceeds_another() -> None:
    states = EIGHT.bill(b=1, T=1, recipe="adam-bf16").categories["weights"]
    kept, shape = EIGHT.activations(), dict(EIGHT.shape, b=1)
    at = exceeds_from(kept, states, "T", low=1, high=2**20, **shape)
    assert at is not None
    limit = states(**shape)
    assert kept(**shape, T=at) > limit >= kept(**shape, T=at - 1)
    assert exceeds_from(kept, states, "T", low=at, high=at, **shape) == at
    assert exceeds_from(kept, states, "T", low=1, high=at - 1, **shape) is None
    assert exceeds_from(kept, states, "T", low=at + 5, high=2**20, **shape) == at + 5


@given(low=st.integers(1, 50), high=st.integers(50, 200), limit=st.integers(1, 50_000))
def test_the_least_number_is_that_of_trying_each(low: int, high: int, limit: int) -> None:
    square, flat = Formula(T**2 + 3 * T, "bytes"), Formula(sympy.Integer(limit), "bytes")
    tried = next((n for n in range(low, high + 1) if n * n + 3 * n > limit), None)
    assert exceeds_from(square, flat, "T", low=low, high=high) == tried


def test_what_cannot_be_compared_is_an_error() -> None:
    one, other = Formula(T * b, "bytes"), Formula(T, "parameters")
    with pytest.raises(InputError, match=r"^cannot compare bytes with parameters$"):
        exceeds_from(one, other, "T", low=1, high=2)
    with pytest.raises(InputError, match=r"^low = 3 exceeds high = 2$"):
        exceeds_from(one, one, "T", low=3, high=2)
    with pytest.raises(InputError, match=r"^low = 0: give how many, an integer > 0$"):
        exceeds_from(one, one, "T", low=0, high=2)
    with pytest.raises(InputError, match=r"^no value for b"):
        exceeds_from(one, one, "T", low=1, high=2)
