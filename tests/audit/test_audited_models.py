"""Whole models, from the batch to the loss: what counts per layer and what once."""

from __future__ import annotations

import pytest
import sympy

pytest.importorskip("torch", reason="the audit needs PyTorch")
pytest.importorskip("transformers", reason="the models are Hugging Face's")

import membill
from membill.audit import outcome, references
from membill.audit.cases import audit_model, ledger_of
from membill.audit.suite import DEPTHS
from membill.formula import Formula
from membill.ledger import Ledger, total
from membill.unrolled import order


def ledger(name: str, layers: int, **options: str | bool) -> Ledger:
    return ledger_of(references.models()[name], layers, options, "bfloat16")


def all_kept(ledger: Ledger) -> Formula:
    """Bytes of all that a model keeps, the tables that its layers share included."""
    return total(row.bytes for row in (*ledger.rows, *ledger.tables))


@pytest.mark.parametrize("name", references.models())
def test_a_model_keeps_what_its_spec_says(name: str) -> None:
    found = outcome.of_model(name)
    assert not found.wrong, "\n".join(found.wrong)
    depths = {options: set[int]() for options in (str(item.options) for item in found.results)}
    for item in found.results:
        depths[str(item.options)] |= {run.dims["L"] for run in item.runs}
    assert set(map(frozenset, depths.values())) == {frozenset(DEPTHS)}


@pytest.mark.parametrize("name", references.models())
def test_every_variant_is_audited_in_both_dtypes_and_on_a_cpu(name: str) -> None:
    for options in references.models()[name].variants:
        same = (item for item in outcome.of_model(name).results if item.options == options)
        small = [run for item in same for run in item.runs if not run.model]
        assert {run.dtype for run in small} == {"bfloat16", "float32"}
        assert {run.device for run in small} == {"meta", "cpu"}


@pytest.mark.parametrize("name", references.models())
def test_a_model_is_its_layers_and_what_comes_once(name: str) -> None:
    known = references.models()[name]
    layer = order(known.spec({}), {**known.own, "L": 2})[-1].layer
    one, two, five = (all_kept(ledger(name, layers)).expr for layers in DEPTHS)
    per_layer = layer.activations(specialise=False).expr
    first = order(known.spec({}), {**known.own, "L": 1})[0].layer
    assert two - one == per_layer or first.name != layer.name
    assert sympy.expand(five - (two + 3 * per_layer)) == 0


def test_every_family_of_layers_is_in_a_model() -> None:
    parts = {
        part.name
        for known in references.models().values()
        for group in known.spec({}).groups
        for part in group
    }
    classes = {known.layer for name, known in references.modules().items() if name != known.layer}
    assert classes == parts


def test_llama_3_8b_at_8192_tokens() -> None:
    name = "LlamaForCausalLM"
    dims = {**membill.shape("llama-3-8b"), "b": 1, "T": 8192}
    one_sequence = {"loss": "eager-one-sequence"}
    for layers in DEPTHS:
        found = audit_model(references.models()[name], {**dims, "L": layers}, one_sequence)
        assert found.equal, found.message()
    one, two, five = (all_kept(ledger(name, layers, **one_sequence))(**dims) for layers in DEPTHS)
    assert two - one == 1_645_281_304
    assert five == one + 4 * 1_645_281_304
    assert one - 1_645_281_304 == 4_475_486_220
    layer = membill.layer("llama", norm="hugging-face")
    with_tables = all_kept(layer.ledger(specialise=False))(**dims)
    assert with_tables == layer.activations()(**dims) + 2 * 8192 * 128 * 2
    assert round(with_tables / 8192 / 4096, 3) == 49.158


def test_a_model_that_differs_is_told_by_tensor() -> None:
    dims = {"b": 2, "T": 8, "L": 1, "d": 32, "h": 2, "n_kv": 1, "d_k": 16, "d_ff": 48, "V": 60}
    found = audit_model(references.models()["LlamaForCausalLM"], dims, {"norm": "fused"})
    assert not found.equal
    assert found.message().startswith("LlamaForCausalLM norm=fused in bfloat16 at b=2 T=8 L=1 ")
    assert (
        "PyTorch keeps layer.model.layers.0.input_layernorm pow, (2, 8, 32) float32, 2,048 B: "
        "the ledger has no such row"
    ) in found.message()
