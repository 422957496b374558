"""A model at other dimensions than its own."""

import pytest

import membill
from membill import InputError
from membill.models import Model


@pytest.fixture
def gpt() -> Model:
    return membill.model("gpt-3-175b")


def test_what_layers_derive_follows_a_dimension_that_is_changed(gpt: Model) -> None:
    derived = gpt.bill(b=1, T=128, d=6144)
    told = gpt.bill(b=1, T=128, d=6144, d_k=64, d_ff=4 * 6144)
    assert derived.bytes == told.bytes
    assert "d_k" not in derived.values


def test_a_dimension_that_contradicts_the_layers_is_not_derived(gpt: Model) -> None:
    wide = gpt.bill(b=1, T=128, d=6144, d_k=128, d_ff=49152)
    assert "d_k" in wide.total.symbols
    assert wide.bytes == gpt.bill(b=1, T=128, d=6144, d_k=128, d_ff=49152, specialise=False).bytes
    with pytest.raises(InputError, match="d_k = d/h is not a whole number"):
        assert gpt.bill(b=1, T=128, d=6000, h=7, n_kv=7).bytes


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ({"T": 2049}, "T = 2049 of model 'gpt-3-175b' exceeds P = 2048"),
        ({"T": 100, "P": 99}, "T = 100 .* exceeds P = 99, the positions that it has"),
        ({"n_kv": 192}, "n_kv = 192 does not divide h = 96"),
        ({"h": 100}, "n_kv = 96 does not divide h = 100"),
    ],
)
def test_dimensions_that_cannot_be(gpt: Model, sizes: dict[str, int], words: str) -> None:
    for question in (gpt.bill, gpt.peak, gpt.cache):
        with pytest.raises(InputError, match=words):
            question(**{"b": 1, "T": 64, **sizes})


def test_a_question_is_asked_of_the_changed_model_too(gpt: Model) -> None:
    given = {"b": 1, "L": 12, "d": 6000, "h": 7, "n_kv": 7, "d_k": 100, "d_ff": 333, "P": 10**5}
    longest = gpt.solve("T", memory=80 * 10**9, **given).value
    assert longest is not None
    assert gpt.peak(T=longest, **given).bytes <= 80 * 10**9
    assert gpt.peak(T=longest + 1, **given).bytes > 80 * 10**9


def test_only_other_dimensions_make_another_model(gpt: Model) -> None:
    assert gpt.shape is not None
    assert gpt.resized(**gpt.shape) is gpt
    assert gpt.resized(b=1, T=128) is gpt
    assert membill.model("gpt").resized(d=96) is not None
    other = gpt.variant(attention="flash").resized(**{**gpt.shape, "L": 48})
    assert other.shape is not None
    assert (other.shape["L"], other.options["attention"]) == (48, "flash")
