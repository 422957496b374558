"""The cache of inference: published figures, windows, shards, pages, and what fits."""

import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import membill
from membill import InputError, registry, units
from membill.cache import Cache, CacheBill
from membill.formats import Format, weight_bytes
from membill.serving import served
from membill.symbols import L, T, b, beta, d_c, d_k, d_n, d_r, d_v, h, n_kv, t, w
from membill.units import GB, GIB

FACTS = tomllib.loads((Path(__file__).parent / "facts" / "published.toml").read_text("utf-8"))
PER_TOKEN = {name: n for name, n in FACTS["kv_bytes_per_token"].items() if name != "source"}
CACHES = registry.everything(Cache)
FORMATS = registry.everything(Format)
TINY = {"L": 4, "h": 8, "n_kv": 4, "d_k": 4, "w": 24}
GEMMA = membill.shape("gemma-2-9b")


def bill(model: str, **settings: Any) -> CacheBill:
    return membill.model(model).cache(**settings)


def size(model: str, **settings: Any) -> int:
    return bill(model, **settings).bytes


def rounded(number: int, unit: int, printed: str) -> str:
    return units.decimal(Fraction(number, unit), len(printed.partition(".")[2]))


@pytest.mark.parametrize("model", PER_TOKEN)
def test_published_bytes_per_token(model: str) -> None:
    found = bill(model, b=1, T=2048)
    assert found.size(found.token) == PER_TOKEN[model]
    assert found.bytes == 2048 * PER_TOKEN[model]


@pytest.mark.parametrize("row", FACTS["kv_cache_70B_GQA"]["rows"], ids=str)
def test_published_sizes(row: list[Any]) -> None:
    tokens, sequences, printed = row
    number = size(FACTS["kv_cache_70B_GQA"]["model"], b=sequences, T=tokens)
    assert rounded(number, GB, printed) == printed


@pytest.mark.parametrize("report", FACTS["kv_reports"], ids=lambda report: report["model"])
def test_reports_of_planners(report: dict[str, Any]) -> None:
    assert size(report["model"], b=1, T=1) == report["right"] != report["reported"]


@pytest.mark.parametrize("row", FACTS["kv_latent"]["rows"], ids=str)
def test_latent_and_expanded(row: dict[str, str]) -> None:
    settings = {name: value for name, value in row.items() if name != "GiB"}
    fact = FACTS["kv_latent"]
    number = size(fact["model"], b=1, T=fact["T"], **settings)
    assert rounded(number, GIB, row["GiB"]) == row["GiB"]


def test_the_width_of_a_head_is_its_own() -> None:
    fact = FACTS["head_width"]
    found = bill("qwen3").rows[0]
    assert found.shapes == {"k": (b, T, n_kv, d_k), "v": (b, T, n_kv, d_k)}
    for name in found.shapes:
        assert sympy.Mul(2, *found.shapes[name]) == sympy.sympify(fact[name], _letters())
    sizes = {"n_kv": 1, "d_k": 256, "h": 4, "d": 640}  # Gemma 3 270M: 4 heads of 256 on 640
    assert bill("qwen3", b=1, T=1, L=1, **sizes).bytes == 2 * 2 * 256


def _letters() -> dict[str, sympy.Symbol]:
    return {str(letter): letter for letter in (T, b, n_kv, d_k)}


CLOSED = {
    "multi-head": 2 * T * b * h * d_k,
    "grouped-query": 2 * T * b * n_kv * d_k,
    "multi-query": 2 * T * b * d_k,
    "latent": T * b * (d_c + d_r),
    "latent-expanded": h * T * b * (d_n + d_r + d_v),
    "sliding-window": 2 * sympy.Min(T, w) * b * n_kv * d_k,
    "sliding-window-in-full": 2 * T * b * n_kv * d_k,
    "none": sympy.Integer(0),
}


@pytest.mark.parametrize("name", CLOSED)
def test_closed_forms_of_a_layer(name: str) -> None:
    assert CACHES[name].bytes().expr == sympy.expand(beta * CLOSED[name])


def test_the_source_of_cross_attention_is_kept_once() -> None:
    found = CACHES["cross-attention"]
    assert not found.grows
    assert not found.bytes().expr.has(T)


def test_grouped_is_multi_head_where_every_head_is_a_group() -> None:
    grouped, whole = (CACHES[name].bytes() for name in ("grouped-query", "multi-head"))
    assert grouped.subs({n_kv: h}) == whole
    assert grouped.subs({n_kv: 1}) == CACHES["multi-query"].bytes()


def test_encoders_cache_nothing() -> None:
    for model in ("bert-large", "vit-l-16"):
        assert bill(model, b=8, T=128).bytes == 0


def test_half_of_gemma_2_is_capped() -> None:
    capped, full = (bill("gemma-2-9b", b=1, kind=kind) for kind in (None, "sliding-window-in-full"))
    each = 2 * 2 * GEMMA["n_kv"] * GEMMA["d_k"]
    below, beyond = capped.size(capped.token), capped.size(capped.token_beyond)
    assert (below, beyond) == (42 * each, 21 * each)
    assert full.size(full.token) == full.size(full.token_beyond) == 42 * each
    assert capped.total(**GEMMA, b=1, T=4096) == full.total(**GEMMA, b=1, T=4096)
    long = 32768
    assert capped.total(**GEMMA, b=1, T=long) == 21 * each * (4096 + long)
    assert full.total(**GEMMA, b=1, T=long) == 42 * each * long


def test_mistral_keeps_a_window() -> None:
    model = "mistral-7b-v0.1"
    assert size(model, b=1, T=4096) == size(model, b=1, T=10**6) == 4096 * 131072
    assert size(model, b=1, T=10**6, kind="sliding-window-in-full") == 10**6 * 131072
    assert size("mistral-7b", b=1, T=10**6) == 10**6 * 131072


@given(tokens=st.integers(1, 100))
def test_one_more_token_takes_what_is_said(tokens: int) -> None:
    found = bill("gemma2", **TINY, b=1)
    more = found.total(**TINY, b=1, T=tokens + 1) - found.total(**TINY, b=1, T=tokens)
    marginal = found.token if tokens < TINY["w"] else found.token_beyond
    assert more == found.size(marginal)


@given(tokens=st.integers(1, 300), sequences=st.integers(1, 9), block=st.integers(1, 40))
def test_pages_counted_block_by_block(tokens: int, sequences: int, block: int) -> None:
    found = bill("gemma2", **TINY, T=tokens, b=sequences, block=block)
    each = 2 * 2 * TINY["n_kv"] * TINY["d_k"]
    taken = held = 0
    for kept in (min(tokens, TINY["w"]), tokens):
        blocks = len(range(0, kept, block))
        taken += sequences * 2 * blocks * block * each
        held += sequences * 2 * kept * each
    assert found.bytes == taken
    assert found.size(found.waste) == taken - held
    assert 0 <= taken - held <= sequences * found.size(found.worst_waste)
    assert found.size(found.worst_waste) == 4 * (block - 1) * each


def test_the_worst_waste_is_that_of_one_token() -> None:
    found = bill("gemma2", **TINY, T=1, b=1, block=16)
    assert found.size(found.waste) == found.size(found.worst_waste)


def test_without_pages_nothing_is_wasted() -> None:
    for block in (None, 1):
        found = bill("llama-3-8b", T=1001, b=3, block=block)
        assert found.size(found.waste) == found.size(found.worst_waste) == 0


@pytest.mark.parametrize("model", ["llama-3-70b", "gpt-3-175b", "falcon-7b", "deepseek-v3"])
@pytest.mark.parametrize("tp", [1, 2, 8, 16])
def test_devices_hold_the_cache_times_its_replication(model: str, tp: int) -> None:
    groups = {"llama-3-70b": 8, "gpt-3-175b": 96}.get(model, 1)  # one latent, one shared head
    whole, part = size(model, b=1, T=2048), size(model, b=1, T=2048, tp=tp)
    assert part * tp == whole * max(1, Fraction(tp, groups))


def test_context_parallelism_divides_tokens_and_windows() -> None:
    whole, part = (bill("gemma-2-9b", b=1, T=8192, cp=cp) for cp in (1, 4))
    assert 4 * part.bytes == whole.bytes
    assert bill("llama", tp=t, cp=2).total.expr == 2 * L * T * b * n_kv * d_k / t


def test_sequence_parallelism_leaves_the_cache() -> None:
    for model in ("deepseek-v3", "llama-3-8b"):
        assert size(model, b=1, T=64, tp=8, sp=True) == size(model, b=1, T=64, tp=8)


def test_formats_of_the_cache() -> None:
    wide = size("llama-3-8b", b=1, T=4096)
    assert size("llama-3-8b", b=1, T=4096, dtype="float8") == wide // 2
    assert size("llama-3-8b", b=1, T=4096, dtype="int8") == wide // 2
    assert size("llama-3-8b", b=1, T=4096, dtype="int4") == wide // 4
    assert size("llama-3-8b", b=1, T=4096, dtype_bytes=4) == wide * 2


def weights(model: str, name: str) -> int:
    found = membill.model(model)
    return int(weight_bytes(found, FORMATS[name], values=found.values())(**found.values()))


def test_formats_of_the_weights_by_hand() -> None:
    matrices = 32 * (4 * 4096**2 + 3 * 4096 * 11008)
    outputs = 32 * (4 * 4096 + 2 * 11008 + 4096)
    others = 2 * (6738415616 - matrices)  # embedding, head and norms stay in 16 bits
    assert weights("llama-2-7b", "bfloat16") == 2 * 6738415616
    assert weights("llama-2-7b", "float8") == matrices + 4 * matrices // 128**2 + others
    assert weights("llama-2-7b", "int8") == matrices + 4 * outputs + others
    groups = matrices // 128
    assert weights("llama-2-7b", "int4") == matrices // 2 + 2 * groups + groups // 2 + others


@given(
    memory=st.integers(1, 200 * GB),
    tokens=st.integers(1, 10**6),
    weights=st.sampled_from(list(FORMATS)),
    block=st.sampled_from([None, 16, 256]),
)
def test_as_many_sequences_fit_as_have_room(
    memory: int, tokens: int, weights: str, block: int | None
) -> None:
    found = BILLS[block]
    one = int(found.sequence(**{**found.values, "T": tokens}))
    fit = served(_at(found, tokens), memory, weights)
    assert fit.sequence == one
    rest = memory - fit.weights
    if rest < one:
        assert fit.sequences == 0
    else:
        assert fit.sequences * one <= rest < (fit.sequences + 1) * one


BILLS = {block: bill("llama-3-8b", block=block) for block in (None, 16, 256)}


def _at(found: CacheBill, tokens: int) -> CacheBill:
    return membill.model("llama-3-8b").cache(T=tokens, block=found.block)


def test_more_of_them_fit_in_fewer_bits_and_on_more_devices() -> None:
    model, memory = membill.model("llama-3-70b"), 80 * GB
    assert model.sequences_that_fit(memory, T=8192) == 0
    counts = [
        model.sequences_that_fit(memory, T=8192, tp=2, weights=name, dtype=dtype)
        for name, dtype in (("bfloat16", None), ("float8", None), ("int4", None), ("int4", "int4"))
    ]
    assert counts == sorted(counts)
    assert counts[0] > 0
    wide = (80 * GB - 141107412992 // 2) // (8192 * 327680 // 2)
    assert counts[0] == wide


KNOWN = ", ".join(sorted(CACHES))
NAMES = ", ".join(sorted(FORMATS))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "latant"}, f"unknown cache 'latant'. Did you mean 'latent'? Known: {KNOWN}"),
        ({"dtype": "fp16"}, f"unknown format 'fp16'. Known: {NAMES}"),
        (
            {"block": 0},
            "block = 0: give how many tokens it holds, an integer > 0, or a symbol",
        ),
        ({"tp": 3}, "3 does not divide n_kv = 8; the plan needs 3 | n_kv or n_kv | 3"),
        ({"cp": 3}, "3 does not divide T = 8192; the plan needs 3 | T"),
        ({"T": 0}, "T = 0 is not allowed: T is an integer > 0"),
    ],
)
def test_messages(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        size("llama-3-8b", **{"b": 1, "T": 8192, **settings})
    assert str(error.value) == message


def test_a_letter_without_a_value() -> None:
    with pytest.raises(InputError, match=r"^no value for T in 4LTb·n_kv·d_k: give it as T=...$"):
        size("llama-3-8b", b=1)


@pytest.mark.parametrize("memory", [0, -1, True, 8e10, "80GB"])
def test_memory_is_a_count_of_bytes(memory: Any) -> None:
    with pytest.raises(InputError) as error:
        membill.model("llama-3-8b").sequences_that_fit(memory, T=8192)
    assert str(error.value) == (
        f"memory = {memory!r}: give the bytes of one device, an integer > 0"
    )


def test_what_caches_nothing_is_never_full() -> None:
    with pytest.raises(InputError) as error:
        membill.model("bert-large").sequences_that_fit(80 * GB, T=512)
    assert str(error.value) == "model 'bert-large' caches nothing: no number of sequences fills"


def test_a_kind_states_its_tokens_once() -> None:
    with pytest.raises(InputError) as error:
        Cache("odd", "Odd", "", "", {"k": (b, T, d_k), "v": (b, w, d_k)})
    assert str(error.value) == "cache 'odd': tensors begin with b and the same tokens"


SIZES = {
    "80GB": 80 * GB,
    "80GiB": 80 * GIB,
    "79.5 GiB": 159 * GIB // 2,
    "1kB": 1000,
    "3MiB": 3 << 20,
}


@pytest.mark.parametrize("text", SIZES)
def test_sizes_with_units(text: str) -> None:
    assert units.size(text, "memory") == SIZES[text]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("80", "memory = '80' has no unit: give 80GB (10^9 bytes) or 80GiB (2^30)"),
        ("much", "memory = 'much': give a number and a unit, such as 80GB or 80GiB"),
        ("-1GB", "memory = '-1GB': give a number and a unit, such as 80GB or 80GiB"),
        (80, "memory = 80: give a number and a unit, such as 80GB or 80GiB"),
        ("0GB", "memory = '0GB' is 0 bytes: give a whole number > 0"),
        ("1.5B", "memory = '1.5B' is 3/2 bytes: give a whole number > 0"),
        (
            "80Gb",
            "memory = '80Gb': Gb is no unit; known are B, kB, MB, GB, TB, KiB, MiB, GiB, TiB",
        ),
    ],
)
def test_messages_of_sizes(text: object, message: str) -> None:
    with pytest.raises(InputError) as error:
        units.size(text, "memory")
    assert str(error.value) == message
