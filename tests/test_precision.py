"""Ops in other dtypes than the one of their inputs: what is kept, and what is said of bad input."""

from __future__ import annotations

import pytest
import sympy

import membill
from membill import Plan
from membill.dtypes import COMPUTE, FLOAT8, FLOAT32, INT64
from membill.errors import InputError
from membill.layers import Layer
from membill.symbols import T, b, beta, d, d_ff, h, n_kv
from membill_specs.precisions import AUTOCAST

GPT, LLAMA = membill.layer("gpt"), membill.layer("llama")
TOKENS = T * b * d
SCORES = h * T**2 * b
KV = n_kv * d / h


def kept(layer: Layer, **how: object) -> sympy.Expr:
    """Without statistics."""
    return layer.activations(statistics=False, **how).expr


def dtypes(layer: Layer, **how: object) -> dict[str, str]:
    return {row.tensor: row.dtype.name for row in layer.ledger(**how).rows}


# Float8: a cast is a new storage, not a factor.


def test_queries_keys_and_values_in_float8_keep_three_casts_for_one_shared_input() -> None:
    layer = GPT.adapt("float8", on=["q", "k", "v"])
    assert kept(layer) - kept(GPT) == (3 - 2) * TOKENS + 3 * d**2
    rows = dtypes(layer)
    assert {rows[f"attention.{name}.input"] for name in "qkv"} == {"float8"}
    assert "norms.before_attention" not in rows


def test_gpt_with_every_linear_in_float8() -> None:
    layer = GPT.adapt("float8", on=["attention", "mlp"])
    # Three casts for 2, one for out's 2, one for up's 2, four for down's 8; GELU's 8 stay.
    assert kept(layer) == sympy.expand((34 + 1 - 1 - 1 - 4) * TOKENS + 5 * SCORES + 12 * d**2)
    assert str(layer.activations(statistics=False)) == "12d² + 29Tbd + 5hT²b"


def test_what_is_multiplied_in_float8_trains_and_stays_in_the_compute_dtype() -> None:
    layer = LLAMA.adapt("float8", on=["mlp"])
    assert layer.trainable_parameters().expr == LLAMA.parameters().expr
    assert dtypes(layer)["mlp.gate.base"] == "compute"
    assert {row.dtype.name for row in layer.ledger().weights} == {"compute"}
    product = TOKENS * (2 - 2) + T * b * d_ff * (1 - 2)
    assert kept(layer) == sympy.expand(kept(LLAMA) + product + 3 * d * d_ff)


def test_a_frozen_linear_in_float8_keeps_no_cast_of_its_input() -> None:
    layer = LLAMA.adapt("float8", on=["mlp"]).freeze("down")
    assert "mlp.down.input" not in dtypes(layer)
    assert dtypes(layer)["mlp.down.base.weight_cast"] == "float8"


def test_a_cast_to_float8_is_as_wide_whatever_it_is_cast_from() -> None:
    layer = GPT.adapt("float8", on=["attention", "mlp"])
    casts = (3 + 1 + 1 + 4) * TOKENS + 12 * d**2
    for width in (2, 4, beta):
        rows = [row for row in layer.ledger(dtype_bytes=width).rows if row.dtype == FLOAT8]
        assert sympy.expand(sum(row.bytes.expr for row in rows) - casts) == 0


# Autocast: float32 in, 16 bits in products.


def test_gpt_in_autocast() -> None:
    in_float32 = 4 * 2 * TOKENS + 4 * SCORES  # what enters both norms, and the softmax
    casts = 2 * (3 + 1) * TOKENS + 2 * SCORES  # for q, k, v and up; of the dropped-out softmax
    products = 2 * (3 + 1 + 4 + 4) * TOKENS  # q, k, v; context; up; GELU
    masks = 2 * TOKENS + SCORES
    weights = 2 * 12 * d**2
    wanted = sympy.expand(in_float32 + casts + products + masks + weights)
    assert kept(GPT, precision="autocast") == wanted
    text = str(GPT.activations(precision="autocast", statistics=False))
    assert text == "24d² + 42Tbd + 7hT²b"


def test_llama_in_autocast() -> None:
    # Rotated queries and keys are in float32, as the tables are; flash attention casts them.
    in_float32 = 4 * 2 * TOKENS
    casts = 2 * (3 + 2 + 1) * TOKENS + 2 * T * b * KV  # for q, k, v, gate and up; of q; of k
    products = 2 * T * b * KV + 2 * TOKENS + 4 * h * T * b  # v; the kernel's output and statistic
    gated = 2 * 4 * T * b * d_ff
    weights = 2 * (2 * d**2 + 2 * d * KV + 3 * d * d_ff)
    wanted = sympy.expand(in_float32 + casts + products + gated + weights)
    assert kept(LLAMA, precision="autocast") == wanted


def test_only_what_a_product_takes_is_cast() -> None:
    rows = dtypes(GPT, precision="autocast")
    assert rows["x"] == rows["attention.residual"] == rows["attention.core.softmax"] == "float32"
    assert rows["attention.q.cast"] == rows["mlp.up"] == "compute"
    assert rows["attention.core.dropout.mask"] == "bool"
    ledger = GPT.ledger(precision="autocast")
    assert {row.dtype for row in ledger.weights} == {FLOAT32}
    assert GPT.parameters(precision="autocast").expr == GPT.parameters().expr


def test_a_cast_of_a_weight_is_divided_as_the_weight_and_holds_no_tokens() -> None:
    whole, part = (
        {row.tensor: row.bytes.expr for row in GPT.ledger(precision="autocast", **mesh).rows}
        for mesh in ({}, {"tp": 8, "sp": True})
    )
    for name in ("attention.q.weight_cast", "mlp.down.weight_cast"):
        assert whole[name] == 8 * part[name]
        assert whole[name].free_symbols == {d}


def test_a_recomputed_layer_keeps_its_input_in_float32_and_no_cast() -> None:
    full = GPT.activations(precision="autocast", recompute="full")
    assert full.expr == 4 * TOKENS
    selective = kept(GPT, precision="autocast", recompute="selective")
    assert kept(GPT, precision="autocast") - selective == 7 * SCORES


def test_a_width_can_be_a_symbol() -> None:
    general = kept(GPT, precision="autocast", dtype_bytes=beta)
    assert general.subs(beta, 2) == kept(GPT, precision="autocast")


def test_masks_indices_and_float8_are_not_cast() -> None:
    layer = GPT.adapt("float8", on=["up"])
    rows = dtypes(layer, precision="autocast")
    assert rows["mlp.up.input"] == "float8"
    assert rows["mlp.up.base"] == "compute"
    assert AUTOCAST.prepared("linear", None) is None
    tokens = next(iter(GPT.graph().inputs)).like(dtype=INT64)
    assert AUTOCAST.prepared("linear", tokens) is tokens
    assert COMPUTE in AUTOCAST.runs.values()


def test_a_plan_holds_a_precision() -> None:
    plan = membill.plan(precision="autocast", recompute="selective")
    assert isinstance(plan, Plan)
    assert plan.precision is AUTOCAST
    assert membill.plan(plan).precision is AUTOCAST
    assert membill.plan(plan, precision=None).precision is None
    assert membill.plan(precision=AUTOCAST) == membill.plan(precision="autocast")


@pytest.mark.parametrize("given", ["autocasts", 2, ["autocast"]])
def test_an_unknown_precision_is_an_error(given: object) -> None:
    with pytest.raises(InputError, match=r"unknown precision .*\bautocast\b"):
        GPT.activations(precision=given)


def test_a_precision_at_the_width_of_what_it_stores_is_an_error() -> None:
    message = (
        "dtype_bytes = 4 with precision 'autocast': that stores float32 and runs ops in a "
        "narrower dtype; give 2 or a symbol, or no precision"
    )
    with pytest.raises(InputError) as error:
        GPT.activations(precision="autocast", dtype_bytes=4)
    assert str(error.value) == message
    with pytest.raises(InputError):
        membill.plan(membill.plan(dtype_bytes=4), precision="autocast")
