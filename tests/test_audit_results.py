"""The audit's results as a site or a terminal reads them: without PyTorch."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

import membill
from membill import registry
from membill.audit import results
from membill.errors import InputError

(SHIPPED,) = results.shipped()


def test_reading_needs_no_pytorch() -> None:
    code = "import sys; sys.modules['torch'] = None; from membill.audit import results"
    made = subprocess.run([sys.executable, "-c", f"{code}; results.shipped()"], check=False)
    assert made.returncode == 0


def test_the_file_is_data_of_the_spec_package() -> None:
    assert results.read(files("membill_specs") / "audit_results.json") == SHIPPED
    assert list(SHIPPED.versions) == ["peft", "torch", "transformers"]


def test_every_op_and_layer_has_results() -> None:
    known = registry.known()
    assert [kind for kind in known.ops if SHIPPED.of_op(kind) is None] == []
    assert set(known.layers) <= {item.layer for item in SHIPPED.layers}
    assert SHIPPED.of_op("no_such_op") is None


def test_results_of_a_layer_are_of_the_variant_asked_for() -> None:
    layer = membill.layer("llama", norm="hugging-face")
    by_module = {item.module: item for item in SHIPPED.of_layer(layer)}
    assert set(by_module) == {"llama", "LlamaDecoderLayer"}
    (full,) = (run for run in by_module["llama"].runs if run.model)
    assert (full.model, full.dims["T"], full.dtype) == ("llama-3-8b", 8192, "bfloat16")
    bare = full.dims | {"b": 1}
    tables = sum(row.bytes(**bare) for row in layer.ledger().tables)
    assert full.bytes == layer.activations()(**bare) + tables


def test_results_of_adapters_and_frozen_parts_are_apart() -> None:
    layer = membill.layer("llama")
    for other in (layer.adapt("lora", on=["q", "v"]), layer.freeze("mlp")):
        (found,) = SHIPPED.of_layer(other)
        assert found not in SHIPPED.of_layer(layer)
        small = next(run for run in found.runs if not run.model and run.dtype == "bfloat16")
        tables = sum(row.bytes(**small.dims) for row in other.ledger().tables)
        assert small.bytes == other.activations()(**small.dims) + tables


def test_whole_models_are_there_in_three_depths() -> None:
    names = {item.module for item in SHIPPED.models}
    assert {
        "LlamaForCausalLM",
        "GPT2LMHeadModel",
        "BertModel",
        "ViTForImageClassification",
    } <= names
    for item in SHIPPED.models:
        assert {run.dims["L"] for run in item.runs} == {1, 2, 5}


def test_the_file_is_small() -> None:
    text = (files("membill_specs") / "audit_results.json").read_text(encoding="utf-8")
    assert len(text) < 400_000
    assert results.as_text(SHIPPED) == text


@pytest.mark.parametrize("text", ["{}", "[]", '{"ops": 3}'])
def test_a_file_of_something_else(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(
        InputError, match=r"other\.json holds no results of the audit: write it anew"
    ):
        results.read(path)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.json cannot be read as results of the audit"):
        results.read(tmp_path / "absent.json")
