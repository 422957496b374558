"""Plans that fit: every offer is one, and in order."""

from __future__ import annotations

import math
from fractions import Fraction
from math import prod
from typing import Any

import pytest

import membill
from membill.errors import InputError
from membill.fit import Found, search
from membill.offers import Offer
from membill.units import GB

BIG = membill.model("llama-3-70b")
EIGHT = membill.model("llama-3-8b")
EXPERTS = membill.model("mixtral-8x7b")

SEARCHES: dict[str, tuple[membill.Model, dict[str, Any]]] = {
    "70B": (BIG, {"gpus": 64, "T": 8192}),
    "8B": (EIGHT, {"gpus": 8, "T": 8192, "limit": None}),
    "8B, a batch": (EIGHT, {"gpus": 8, "T": 8192, "global_batch_tokens": 10**6}),
    "8B, largest": (EIGHT, {"gpus": 8, "T": 4096, "b": None, "margin": 0.1, "limit": 4}),
    "8B, interleaved": (
        EIGHT,
        {"gpus": 8, "T": 8192, "schedule": "interleaved", "chunks": 2, "pp": 4},
    ),
    "experts": (EXPERTS, {"gpus": 64, "T": 4096, "recompute": "full"}),
    "two kinds of layers": (membill.model("gemma-2-9b"), {"gpus": 4, "T": 4096, "pp": 2}),
}


@pytest.fixture(scope="module", params=SEARCHES)
def found(request: pytest.FixtureRequest) -> tuple[dict[str, Any], Found]:
    model, settings = SEARCHES[request.param]
    return settings, search(model, memory=80 * GB, **settings)


def own_bytes(offer: Offer, margin: float = 0, **changed: Any) -> int:
    """The peak of a step on the fullest stage by the model itself, with the margin."""
    peak = offer.model.peak(**{**offer.settings, **changed}).bytes
    return peak + math.ceil(peak * Fraction(str(margin)))


def test_every_offer_fits_by_its_own_peak(found: tuple[dict[str, Any], Found]) -> None:
    settings, result = found
    assert result.offers
    for offer in result.offers:
        assert offer.bytes == own_bytes(offer, settings.get("margin", 0))
        assert offer.at == offer.model.peak(**offer.settings).event.name
        assert offer.spare == 80 * GB - offer.bytes >= 0
        assert prod(offer.degrees.values()) == offer.gpus == settings["gpus"]


def test_cheapest_first_and_each_division_once(found: tuple[dict[str, Any], Found]) -> None:
    _, result = found
    order = [
        (offer.price, prod(n for name, n in offer.degrees.items() if name != "dp"))
        for offer in result.offers
    ]
    assert order == sorted(order)
    ways = [tuple(offer.degrees.items()) for offer in result.offers]
    assert len(set(ways)) == len(ways)


def test_nothing_thriftier_than_needed(found: tuple[dict[str, Any], Found]) -> None:
    settings, result = found
    if settings.get("b", 1) is None:
        return  # micro-batches grow only after the stage is chosen
    for offer in result.offers:
        stage = offer.settings.get("zero", 0)
        if stage and not offer.settings.get("sp"):
            assert own_bytes(offer, zero=stage - 1) > 80 * GB


def test_what_is_given_is_not_searched_for() -> None:
    asked = {"tp": 4, "zero": 3, "recompute": "full", "sp": False}
    for offer in BIG.fit(gpus=64, memory=80 * GB, T=8192, **asked):
        assert asked.items() <= offer.settings.items()
        assert offer.degrees["tp"] == 4


def test_the_price_is_that_of_the_whole_model() -> None:
    offer, *_ = BIG.fit(gpus=64, memory=80 * GB, T=8192, recompute="full", limit=1)
    price, sizes = BIG.price(recompute="full"), {**BIG.shape, "b": 1, "T": 8192}
    assert offer.price == Fraction(price.rerun(**sizes), price.step(**sizes)) > 0
    layer = membill.layer("llama").price(recompute="full")
    assert price.rerun(**sizes) == BIG.shape["L"] * layer.rerun(**sizes)


@pytest.mark.parametrize("tokens", [10**6, 4 * 10**6, 7])
def test_steps_cover_the_global_batch(tokens: int) -> None:
    for offer in EIGHT.fit(gpus=8, memory=80 * GB, T=8192, global_batch_tokens=tokens):
        each = offer.settings["b"] * 8192 * offer.degrees["dp"]
        assert (offer.steps - 1) * each < tokens <= offer.steps * each
        if offer.degrees["pp"] > 1:
            assert offer.settings["micro_batches"] == offer.steps


def test_devices_of_experts_have_sequences_of_their_own() -> None:
    offer, *_ = EXPERTS.fit(
        gpus=64, memory=80 * GB, T=4096, ep=8, tp=2, recompute="full", global_batch_tokens=2**22
    )
    among = offer.degrees["dp"] * offer.degrees["ep"]
    assert offer.steps * 4096 * among == 2**22


def test_largest_micro_batch_of_an_offer() -> None:
    for offer in EIGHT.fit(gpus=8, memory=80 * GB, T=1024, b=None, limit=3):
        assert own_bytes(offer) <= 80 * GB < own_bytes(offer, b=offer.settings["b"] + 1)


def test_if_nothing_fits_the_nearest_says_by_how_much() -> None:
    result = search(BIG, gpus=8, memory=80 * GB, T=8192)
    assert result.offers == ()
    assert result.nearest.spare == 80 * GB - own_bytes(result.nearest) < 0
    for degrees in ({"tp": 8}, {"pp": 8}, {"cp": 8}, {"tp": 2, "pp": 4}):
        other = search(BIG, gpus=8, memory=80 * GB, T=8192, **degrees).nearest
        assert other.spare <= result.nearest.spare


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"gpus": 0}, "gpus = 0: give how many, an integer > 0"),
        ({"gpus": 2.5}, "gpus = 2.5: give how many, an integer > 0"),
        ({"limit": 0}, "limit = 0: give how many, an integer > 0"),
        ({"T": 0}, "T = 0 is not allowed: T is an integer > 0"),
        ({"b": 1.5}, "b = 1.5 is a float; b counts, so it is an integer > 0"),
        ({"memory": "80"}, "memory = '80': give the bytes of one device as an integer > 0"),
        ({"recipe": "adam"}, "unknown recipe 'adam'. Did you mean 'adam-"),
        ({"tp": 3}, "3 does not divide h = 32; the plan needs 3 | h"),
        ({"gpus": 6, "tp": 4}, "gpus = 6: tp=4 takes a multiple of 4"),
        ({"schedule": "interleaved"}, "chunks = 1: schedule 'interleaved' has two chunks or more"),
        ({"schedule": "1f1b", "chunks": 2}, "chunks = 2: schedule '1f1b' has no model chunks"),
        ({"chunks": 2}, "chunks = 2 says nothing without a schedule: give schedule=..."),
        ({"tp": "8"}, "tp = '8': give a degree, an integer > 0, or a symbol"),
        ({"gpus": 7, "tp": 7}, "7 does not divide"),
        ({"schedule": "1f2b"}, "unknown schedule '1f2b'. Did you mean '1f1b'?"),
        ({"zero": 4}, "zero = 4: allowed are 0, 1, 2, 3"),
        (
            {"global_batch_tokens": 10**6, "micro_batches": 4},
            "global_batch_tokens says how many micro_batches there are: give one",
        ),
        ({"hidden": 1}, "unknown setting 'hidden' of a plan."),
    ],
)
def test_messages(settings: dict[str, Any], expected: str) -> None:
    with pytest.raises(InputError) as caught:
        EIGHT.fit(**{"gpus": 8, "memory": 80 * GB, "T": 8192, **settings})
    assert str(caught.value).startswith(expected)


def test_without_a_length_of_sequences() -> None:
    with pytest.raises(InputError, match=r"^no value for T: give it as T=\.\.\."):
        EIGHT.fit(gpus=8, memory=80 * GB)
