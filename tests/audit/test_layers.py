"""Every layer in its variants beside the module that it describes, and what is on file of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the audit needs PyTorch")
pytest.importorskip("transformers", reason="some layers are Hugging Face's")

import outcomes
import sympy
import torch

import membill
from membill import audit
from membill.audit import references, results, suite
from membill.errors import InputError
from membill.ledger import collect, price
from membill.symbols import beta
from membill.tensor import Role, Tensor

MODULES = [known.name for known in references.references()]
RESULTS = Path(__file__).with_name("results.json")


@pytest.mark.parametrize("name", MODULES)
def test_module_keeps_what_its_layer_says(name: str) -> None:
    outcome = outcomes.of_module(name)
    assert outcome.data
    assert not outcome.wrong, "\n".join(outcome.wrong)


def test_every_op_and_layer_is_audited() -> None:
    assert not suite.unaudited()


@pytest.mark.parametrize("layer", ["gpt", "llama"])
def test_every_variant_is_audited_at_small_sizes_and_a_real_models(layer: str) -> None:
    entries = [entry for entry in outcomes.of_module(layer).data if entry["layer"] == layer]
    for variant in membill.layer(layer).variants():
        own = [entry for entry in entries if entry["options"] == variant.chosen]
        assert {entry["dtype"] for entry in own} == {"bfloat16", "float32"}
        assert {entry["device"] for entry in own} == {"meta", "cpu"}
        assert len({str(entry["dims"]) for entry in own if not entry["model"]}) == suite.SIZES
        assert [entry["model"] for entry in own if entry["model"]]


def test_the_results_on_file_are_these(announce: Callable[[str], None]) -> None:
    """If a difference is meant: python -m membill.audit --write tests/audit/results.json."""
    ops = {kind: outcomes.of_op(kind) for kind in references.counterparts()}
    modules = {name: outcomes.of_module(name) for name in MODULES}
    found = results.assembled(ops, modules)
    announce(results.summary(found))
    assert results.differences(results.read(RESULTS), found) == ()


def test_gpt_3_and_llama_3_at_full_size() -> None:
    """On `meta`, which needs no memory: the closed forms in numbers are what PyTorch keeps."""
    for layer, model, tokens in (("gpt", "gpt-3-175b", 2048), ("llama", "llama-3-8b", 8192)):
        spec = membill.layer(layer)
        dims = suite.sizes_of(spec, {**membill.shape(model), "b": 1, "T": tokens})
        found = audit.audit_layer(spec, dims)
        assert found.equal, found.message()
        tables = sum(row.bytes(**dims) for row in spec.ledger().tables)
        assert found.bytes[1] - tables == spec.activations()(**dims)


@pytest.mark.parametrize("norms", ["frozen norms", "trainable norms"])
@pytest.mark.parametrize("layer", ["gpt", "llama"])
def test_frozen_linears_keep_no_input(layer: str, norms: str) -> None:
    """Every linear frozen, as under adapters, with the norms' parameters or without."""
    spec = membill.layer(layer)
    with_norms = norms == "trainable norms"

    def trainable(tensor: Tensor) -> bool:
        in_norm = with_norms and tensor.path.startswith("norms.")
        return tensor.role is not Role.WEIGHT or in_norm

    factory = references.reference(layer).factory

    @wraps(factory)
    def frozen(**known: object) -> torch.nn.Module:
        module = factory(**known)
        for name, parameter in module.named_parameters():
            parameter.requires_grad_(with_norms and "norm" in name)
        return module

    graph = spec.graph()
    kept = collect(graph, trainable=trainable)
    ledger = price(kept, graph.weights, {beta: sympy.Integer(2)}, spec.definitions)
    dims = suite.sizes_of(spec, references.small_sizes(1)[0])
    found = audit.audit_layer(spec, dims, factory=frozen, ledger=ledger)
    assert found.equal, found.message()
    assert found.bytes[0] < spec.activations()(**dims)
    assert not [row for row in ledger.rows if row.tensor == "attention.core.context"]


def test_a_variant_that_a_module_lacks_is_an_error() -> None:
    layer = membill.layer("mistral", attention="math")
    with pytest.raises(InputError, match=r"MistralDecoderLayer.*has no variant attention=math"):
        audit.audit_layer(layer, {"b": 2, "T": 8, "d": 64, "h": 4, "n_kv": 2, "d_k": 16, "d_ff": 9})


def test_results_survive_a_file_and_tell_a_difference(tmp_path: Path) -> None:
    found = results.assembled(
        {"softmax": outcomes.of_op("softmax")}, {"gpt": outcomes.of_module("gpt")}
    )
    path = tmp_path / "results.json"
    path.write_text(results.as_text(found), encoding="utf-8")
    assert results.read(path) == found
    assert not results.differences(results.read(path), {**found, "date": "1970-01-01"})
    other = {**found, "ops": {"softmax": {"calls": ["softmax"], "comparisons": 1}}}
    gone, new = results.differences(found, other)
    assert gone.startswith('no longer so: "softmax"')
    assert new == 'not on file: "softmax": {"calls": ["softmax"], "comparisons": 1}'
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="holds no results of the audit"):
        results.read(path)
