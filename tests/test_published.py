"""The formulas against published ones, symbolically, and against published numbers."""

import tomllib
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sympy
from sympy.parsing.sympy_parser import parse_expr

import membill
from membill import symbols
from membill.formula import Formula
from membill.symbols import T, d, d_ff, h
from membill.units import GB, GIB, decimal, percent

FACTS = tomllib.loads((Path(__file__).parent / "facts" / "published.toml").read_text("utf-8"))
LETTERS = {info.name: info.symbol for info in symbols.table()}


def published(text: str) -> sympy.Expr:
    return parse_expr(text, local_dict=LETTERS)


def layer_of(fact: Mapping[str, Any]) -> membill.Layer:
    return membill.layer(fact["layer"], **fact.get("options", {}))


def by_source(facts: list[dict[str, Any]]) -> Any:
    return pytest.mark.parametrize("fact", facts, ids=lambda fact: fact["source"].split(":")[-1])


@by_source(FACTS["formula"])
def test_formula(fact: dict[str, Any]) -> None:
    given = {"recompute", "dtype_bytes", "specialise"} & fact.keys()
    ledger = layer_of(fact).ledger(
        statistics=fact.get("statistics", False), **{key: fact[key] for key in given}
    )
    derived = dict(ledger.by_scope())[fact["scope"]] if "scope" in fact else ledger.total()
    assert derived.unit == "bytes"
    assert derived.expr == published(fact["text"])


@by_source(FACTS["per_token"])
def test_bytes_per_token(fact: dict[str, Any]) -> None:
    formula = layer_of(fact).activations(statistics=fact.get("statistics", False))
    shape = membill.shape(fact["model"])
    per_token = Fraction(formula(**shape, b=3, T=8192), 3 * 8192 * shape["d"])
    assert decimal(per_token, len(fact["value"].partition(".")[2])) == fact["value"]


def test_what_pytorch_saves_of_a_llama_layer_to_the_byte() -> None:
    fact = FACTS["saved"]
    kept = layer_of(fact).activations()(**membill.shape(fact["model"]), b=1, T=fact["T"])
    assert kept == fact["bytes"]


def matrices(layer: membill.Layer) -> Formula:
    """The layer's T by T tensors."""
    rows = [row.bytes for row in layer.ledger().rows if row.shape.count(T) == 2]
    return sum(rows[1:], rows[0])


def test_attention_matrices_of_gpt3() -> None:
    fact, shape, layer = FACTS["gpt3"], membill.shape("gpt-3-175b"), membill.layer("gpt")
    part, whole = matrices(layer), layer.activations(statistics=False)
    assert part.expr.coeff(T**2) * T / d == whole.expr.coeff(T**2) * T / d
    per_entry = part(**shape, b=1, T=fact["T"]) // (fact["T"] * shape["d"])
    assert per_entry == fact["ratio"]
    assert (
        percent(Fraction(part(**shape, b=1, T=fact["T"]), whole(**shape, b=1, T=fact["T"])))
        == (fact["percent"])
    )


def stack(dims: Mapping[str, int], **options: Any) -> int:
    """Bytes of L GPT layers, without statistics."""
    formula = membill.layer("gpt").activations(statistics=False, **options)
    return dims["L"] * int(formula(**dims))


def test_bert_large_in_float32() -> None:
    fact = FACTS["bert"]
    assert stack(fact["dims"], dtype_bytes=4) == fact["MiB"] * 2**20


def test_gpt2_774m() -> None:
    fact = FACTS["gpt2_774M"]
    assert Fraction(stack(fact["dims"]), GIB) == Fraction(fact["GiB"])
    without = stack(fact["dims"]) - fact["dims"]["L"] * matrices(membill.layer("gpt"))(
        **fact["dims"]
    )
    assert decimal(Fraction(without, GIB), 2) == fact["GiB_without_matrices"]


@by_source(FACTS["stack"])
@pytest.mark.parametrize("policy", ["none", "selective", "full"])
def test_stack_of_layers_as_rounded_in_print(fact: dict[str, Any], policy: str) -> None:
    printed = Fraction(str(fact[policy]))
    last_digit = Fraction(1, 10 ** len(str(fact[policy]).partition(".")[2]))
    assert abs(Fraction(stack(fact["dims"], recompute=policy), GB) - printed) < last_digit


@pytest.mark.parametrize("row", FACTS["playbook"]["rows"], ids=lambda row: row[0])
def test_playbook(row: list[Any]) -> None:
    _, *columns = FACTS["playbook"]["columns"]
    published_row = dict(zip(columns, row[1:], strict=True))
    mask = Formula(published(FACTS["playbook"]["embedding_mask"]), "bytes")
    for column in (column for column in columns if "@" in column):
        policy, _, tokens = column.partition("@")
        dims = {name: published_row[name] for name in "Ldh"} | {"T": int(tokens), "b": 1}
        size = stack(dims, recompute=policy) + mask(**dims)
        assert Fraction(size, GIB) == Fraction(published_row[column]), column


@by_source(FACTS["trainable"])
def test_trainable_parameters(fact: dict[str, Any]) -> None:
    layer = layer_of(fact).adapt(**fact["adapter"])
    assert (layer.trainable_parameters() * symbols.L)(**fact["dims"]) == fact["total"]


def test_softmax_keeps_its_output_only() -> None:
    rows = [row.bytes.expr for row in membill.layer("gpt").ledger().rows if row.shape.count(T) == 2]
    assert rows == [published(text) for text in FACTS["softmax"]["rows"]]


@pytest.mark.parametrize("kernel", ["eager", "fused"])
def test_swiglu(kernel: str) -> None:
    total = membill.layer("llama", swiglu=kernel).activations().expr
    assert total.coeff(d_ff) * d_ff == published(FACTS["swiglu"][kernel])


def test_dropout_with_probability_zero_costs_nothing() -> None:
    layer = membill.layer("gpt", dropout=False)
    assert layer.activations(statistics=False).expr == published(FACTS["dropout_off"]["text"])
    assert not [row for row in layer.ledger().rows if "dropout" in row.tensor]


@pytest.mark.parametrize("attention", ["eager", "flash"])
def test_head_width_is_independent_of_the_model_width(attention: str) -> None:
    fact, width = FACTS["head_width"], symbols.d_k
    rows = membill.layer("llama", attention=attention).ledger(specialise=False).rows
    with_heads = sorted(str(row.bytes.expr) for row in rows if width in row.shape)
    if attention == "flash":
        wanted = [fact[name] for name in ("q", "k", "v", "context")]
    else:  # k and v are copied to as many heads as q has; the copies are what is kept
        wanted = [fact["q"]] * 3 + [fact["context"]]
    assert with_heads == sorted(str(published(text)) for text in wanted)
    at_qwen = {"b": 1, "T": 1, "d": 2560, "h": 32, "n_kv": 8, "d_k": 128}
    context = next(row for row in rows if "attention.out" in row.needed_by)
    assert context.bytes(**at_qwen) == 2 * 32 * 128


def test_recomputing_a_fused_core_saves_no_matrix() -> None:
    layer = membill.layer("gpt", attention="flash")
    kept = (
        layer.activations(recompute=policy, statistics=False) for policy in ("none", "selective")
    )
    whole, less = kept
    assert whole.expr - less.expr == published(FACTS["fused_core"]["saved"])
    assert layer.activations().expr.coeff(h * T**2) == 0
