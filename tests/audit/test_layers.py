"""Every layer in its variants beside the module that it describes: to the byte."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="the audit needs PyTorch")
pytest.importorskip("transformers", reason="some layers are Hugging Face's")

import membill
from membill import audit
from membill.audit import outcome, references, suite
from membill.errors import InputError


@pytest.mark.parametrize("name", references.modules())
def test_module_keeps_what_its_layer_says(name: str) -> None:
    found = outcome.of_module(name)
    assert found.results
    assert not found.wrong, "\n".join(found.wrong)


def test_every_op_and_layer_is_audited() -> None:
    assert not suite.unaudited()


@pytest.mark.parametrize("layer", ["gpt", "llama"])
def test_every_variant_is_audited_at_small_sizes_and_a_real_models(layer: str) -> None:
    found = outcome.everything().results
    for variant in filter(references.modules()[layer].covers, membill.layer(layer).variants()):
        (own,) = (item for item in found.of_layer(variant) if item.module == layer)
        assert {run.dtype for run in own.runs} == {"bfloat16", "float32"}
        assert {run.device for run in own.runs} == {"meta", "cpu"}
        assert len({str(run.dims) for run in own.runs if not run.model}) == suite.SIZES
        assert [run.model for run in own.runs if run.model]


def test_gpt_3_and_llama_3_at_full_size() -> None:
    """On `meta`, which needs no memory: the closed forms in numbers are what PyTorch keeps."""
    for layer, model, tokens in (("gpt", "gpt-3-175b", 2048), ("llama", "llama-3-8b", 8192)):
        spec = membill.layer(layer)
        dims = suite.sizes_of(spec, {**membill.shape(model), "b": 1, "T": tokens})
        found = audit.audit_layer(spec, dims)
        assert found.equal, found.message()
        tables = sum(row.bytes(**dims) for row in spec.ledger().tables)
        assert found.bytes[1] - tables == spec.activations()(**dims)


def test_a_variant_that_a_module_lacks_is_an_error() -> None:
    layer = membill.layer("mistral", attention="math")
    with pytest.raises(InputError, match=r"MistralDecoderLayer.*has no variant attention=math"):
        audit.audit_layer(layer, {"b": 2, "T": 8, "d": 64, "h": 4, "n_kv": 2, "d_k": 16, "d_ff": 9})
