"""Adapters of the real PEFT library, and frozen parts: what they keep, storage by storage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch", reason="the audit needs PyTorch")
pytest.importorskip("transformers", reason="one layer is Hugging Face's")
pytest.importorskip("peft", reason="the adapters are PEFT's")

import torch

import membill
from membill import audit
from membill.audit import outcome, references, suite
from membill.errors import InputError
from membill.ledger import Ledger, collect, price
from membill.symbols import beta
from membill.tensor import Tensor, count
from membill_specs.torch_reference import adapters
from membill_specs.torch_reference.families import FAMILIES

WIDTHS = {"bfloat16": 2, "float32": 4}
WHERE = [
    pytest.param(("q", "v"), id="q and v"),
    pytest.param(("attention", "mlp"), id="all linears"),
]
SMALL = references.small_sizes(1)[0]
HF_NAMES = {"q": "q_proj", "v": "v_proj", "attention": "self_attn", "mlp": "mlp"}


def sizes(layer: membill.Layer) -> dict[str, int]:
    return suite.sizes_of(layer, SMALL)


@pytest.mark.parametrize("name", ["gpt", "llama"])
@pytest.mark.parametrize("on", WHERE)
@pytest.mark.parametrize("adapter", ["lora", "lora-float32"])
def test_adapters_keep_what_peft_keeps(adapter: str, on: tuple[str, ...], name: str) -> None:
    layer = membill.layer(name).adapt(adapter, on=on)
    for dtype in WIDTHS:
        for device in ("meta", "cpu"):
            found = audit.audit_layer(layer, sizes(layer), dtype=dtype, device=device)
            assert found.equal, found.message()


@pytest.mark.parametrize("scopes", adapters.FROZEN, ids=", ".join)
@pytest.mark.parametrize("name", ["gpt", "llama"])
def test_frozen_parts_keep_what_pytorch_keeps(name: str, scopes: tuple[str, ...]) -> None:
    layer = membill.layer(name).freeze(*scopes)
    for dtype in WIDTHS:
        found = audit.audit_layer(layer, sizes(layer), dtype=dtype)
        assert found.equal, found.message()


def test_all_of_these_are_in_the_results_at_a_real_models_shape() -> None:
    found = outcome.everything().results
    for layer, _ in references.tuned():
        (own,) = found.of_layer(layer)
        assert [run.model for run in own.runs if run.model]
        assert {run.dtype for run in own.runs} == set(WIDTHS)
    assert {item.adapter for item in found.layers} == {"", "lora", "lora-float32"}


@pytest.mark.parametrize("name", ["gpt", "llama"])
def test_a_frozen_linear_keeps_no_input(name: str) -> None:
    layer = membill.layer(name)
    frozen = layer.freeze("down")
    (gone,) = {row.tensor for row in layer.ledger().rows} - {
        row.tensor for row in frozen.ledger().rows
    }
    whole, less = (audit.audit_layer(item, sizes(item)) for item in (layer, frozen))
    assert whole.equal, whole.message()
    assert less.equal, less.message()
    (row,) = (row for row in layer.ledger().rows if row.tensor == gone)
    assert row.needed_by == ("mlp.down",)
    assert whole.bytes[1] - less.bytes[1] == row.bytes(**sizes(layer))


def put_in_by_hand(adapter: str, on: tuple[str, ...]) -> Callable[..., Any]:
    """LlamaDecoderLayer with PEFT's adapters at the places of the spec, by its own names."""
    family = next(family for family in FAMILIES if family.layer == "llama")

    def factory(**known: Any) -> Any:
        module, *rest = family.factory(**known)
        places = tuple(HF_NAMES[place] for place in on)
        return references.adapter(adapter)(module, places, known), *rest

    return factory


@pytest.mark.parametrize("on", WHERE)
@pytest.mark.parametrize("adapter", ["lora", "lora-float32"])
def test_adapters_on_hugging_faces_layer(adapter: str, on: tuple[str, ...]) -> None:
    layer = membill.layer("llama", norm="hugging-face").adapt(adapter, on=on)
    for dtype in WIDTHS:
        factory = put_in_by_hand(adapter, on)
        found = audit.audit_layer(layer, sizes(layer), factory=factory, dtype=dtype)
        assert found.equal, found.message()


def of_first_layer(layer: membill.Layer, width: int) -> Ledger:
    """The ledger if the layer's input, as that of a model's first layer, takes no gradient."""
    graph = layer.graph(width)

    def trainable(tensor: Tensor) -> bool:
        return tensor not in graph.inputs and layer.trainable(tensor)

    values = {beta: count(width, "width", "bytes")}
    return price(collect(graph, trainable=trainable), graph.weights, values, layer.definitions)


@pytest.mark.parametrize("adapter", ["lora", "lora-float32"])
@pytest.mark.parametrize("dtype", WIDTHS)
def test_in_a_models_first_layer_nothing_is_kept_before_the_first_adapter(
    adapter: str, dtype: str
) -> None:
    layer = membill.layer("llama").adapt(adapter, on=["q", "v"])
    inner = put_in_by_hand(adapter, ("q", "v"))

    def factory(**known: Any) -> Any:
        module, (x,), tables = inner(**known)
        return module, (x.detach(),), tables

    layer = layer.variant(norm="hugging-face")
    own = of_first_layer(layer, WIDTHS[dtype])
    found = audit.audit_layer(layer, sizes(layer), factory=factory, ledger=own, dtype=dtype)
    assert found.equal, found.message()
    assert found.bytes[0] < audit.audit_layer(layer, sizes(layer), dtype=dtype).bytes[0]


def test_a_wrong_adapter_is_told_by_tensor() -> None:
    """Against PEFT's default, which makes adapters in float32, the spec of the others is wrong."""
    layer = membill.layer("llama", norm="hugging-face").adapt("lora", on=["q"])
    found = audit.audit_layer(layer, sizes(layer), factory=put_in_by_hand("lora-float32", ("q",)))
    assert not found.equal
    middle = tuple(SMALL[axis] for axis in ("b", "T", "r"))
    assert f"attention.q.lora_b needs attention.q.lora_a, {middle} bfloat16" in found.message()
    assert "q_proj.lora_A.default" in found.message()


def test_a_module_whose_parts_have_other_names_is_an_error() -> None:
    at = {"b": 2, "T": 8, "d": 64, "h": 4, "n_kv": 2, "d_ff": 9, "r": 4}
    mistral = membill.layer("mistral")
    at = suite.sizes_of(mistral, {**at, "d_k": 16}) | {"r": 4}
    with pytest.raises(InputError, match="unknown linear to adapt 'q' of Called"):
        audit.audit_layer(mistral.adapt("lora", on=["q"]), at)
    with pytest.raises(InputError, match="unknown part to freeze 'q' of Called"):
        audit.audit_layer(mistral.freeze("q"), at)


def test_the_reference_runs_backward_through_adapters_only() -> None:
    known = {**SMALL, "attention": "flash", "norm": "fused", "swiglu": "eager", "dropout": False}
    names = ("T", "d", "h", "n_kv", "d_ff", "attention", "norm", "swiglu", "dropout")
    bare = references.reference("llama").factory(**{name: known[name] for name in names})
    module = adapters.lora(bare, ["q", "v"], known)
    module(torch.randn(SMALL["b"], SMALL["T"], SMALL["d"])).sum().backward()
    trained = [name for name, weight in module.named_parameters() if weight.grad is not None]
    layer = membill.layer("llama").adapt("lora", on=["q", "v"])
    sizes_of_trained = sum(module.get_parameter(name).numel() for name in trained)
    assert all("lora_" in name for name in trained)
    assert sizes_of_trained == layer.trainable_parameters()(**sizes(layer))
