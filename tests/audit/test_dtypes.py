"""Layers in more than one dtype beside PyTorch: linears in float8, and whole layers in autocast."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the audit needs PyTorch")

import torch

import membill
from membill import audit
from membill.audit import Comparison, references, suite
from membill.audit.building import tuned
from membill.audit.references import Reference
from membill.layers import Layer
from membill_specs.precisions import AUTOCAST, IN_FLOAT32, PRODUCTS
from membill_specs.torch_reference.precisions import Autocast, Float8Linear, autocast

PLAIN = [references.modules()[name] for name in ("gpt", "llama")]
VARIANTS = [v for p in PLAIN for v in membill.layer(p.name).variants() if p.covers(v)]
NAMES = [f"{v.name}-{'-'.join(map(str, v.chosen.values()))}" for v in VARIANTS]
MODULES = [known for known in references.modules().values() if known.layer not in ("gpt", "llama")]
FLOAT8_ON = (("q", "k", "v"), ("attention", "mlp"), ("mlp.down",))


def in_float8(layer: Layer, dims: dict[str, int], dtype: str, device: str) -> Comparison:
    return audit.audit_layer(layer, dims, dtype=dtype, device=device)


def in_autocast(layer: Layer, dims: dict[str, int], known: Reference | None = None) -> Comparison:
    """On a CPU, where autocast works without a GPU; with the casts of a GPU's lists."""
    factory = autocast(tuned((known or references.covering(layer)).factory, layer))
    ledger = layer.ledger(precision="autocast")
    return audit.audit_layer(layer, dims, factory=factory, ledger=ledger, device="cpu")


def sizes(layer: Layer, count: int = 2) -> list[dict[str, int]]:
    return [suite.sizes_of(layer, drawn) for drawn in references.small_sizes(count)]


@pytest.mark.parametrize("device", ["meta", "cpu"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("on", FLOAT8_ON, ids="+".join)
@pytest.mark.parametrize("name", ["gpt", "llama"])
def test_linears_in_float8_keep_their_casts(
    name: str, on: Collection[str], dtype: str, device: str
) -> None:
    layer = membill.layer(name).adapt("float8", on=on)
    for dims in sizes(layer):
        found = in_float8(layer, dims, dtype, device)
        assert found.equal, found.message()
        casts = [pair.torch for pair in found.pairs if pair.torch and "float8" in pair.torch.dtype]
        linears = {"attention+mlp": 6 if name == "gpt" else 7, "q+k+v": 3}.get("+".join(on), 1)
        assert len(casts) == 2 * linears


@pytest.mark.parametrize("name", ["gpt", "llama"])
def test_a_frozen_linear_in_float8_keeps_no_input(name: str) -> None:
    layer = membill.layer(name).adapt("float8", on=["attention", "mlp"]).freeze("mlp")
    for dims in sizes(layer):
        found = in_float8(layer, dims, "bfloat16", "cpu")
        assert found.equal, found.message()


def test_a_linear_in_float8_has_the_gradients_of_its_product() -> None:
    torch.manual_seed(0)
    linear = torch.nn.Linear(16, 8)
    x = torch.randn(2, 3, 16, requires_grad=True)
    exact = torch.autograd.grad(linear(x).square().sum(), [x, *linear.parameters()])
    rounded = torch.autograd.grad(Float8Linear(linear)(x).square().sum(), [x, *linear.parameters()])
    for one, other in zip(exact, rounded, strict=True):
        torch.testing.assert_close(one, other, rtol=0.2, atol=0.5)


@pytest.mark.parametrize("layer", VARIANTS, ids=NAMES)
def test_autocast_keeps_what_a_layer_says(layer: Layer) -> None:
    for dims in sizes(layer, 1):
        found = in_autocast(layer, dims)
        assert found.equal, found.message()


@pytest.mark.parametrize("known", MODULES, ids=lambda known: known.name)
def test_autocast_keeps_the_same_of_modules_of_libraries(known: Reference) -> None:
    pytest.importorskip("transformers")
    layer = next(v for v in membill.layer(known.layer).variants() if known.covers(v))
    for dims in sizes(layer, 1):
        found = in_autocast(layer, dims, known)
        assert found.equal, found.message()


@pytest.mark.parametrize("name", ["gpt", "llama"])
def test_linears_in_float8_cast_from_16_bits_in_autocast(name: str) -> None:
    layer = membill.layer(name).adapt("float8", on=["attention", "mlp"])
    for dims in sizes(layer):
        found = in_autocast(layer, dims)
        assert found.equal, found.message()


@pytest.mark.parametrize("name", ["gpt", "llama"])
def test_float32_adapters_in_autocast_keep_16_bits(name: str) -> None:
    pytest.importorskip("peft")
    layer = membill.layer(name).adapt("lora-float32", on=["attention", "mlp"])
    for dims in sizes(layer):
        found = in_autocast(layer, dims)
        assert found.equal, found.message()


@pytest.mark.parametrize("name", ["gpt", "llama"])
def test_a_frozen_linear_in_autocast_keeps_the_cast_of_its_weight_alone(name: str) -> None:
    layer = membill.layer(name).freeze("attention", "mlp")
    for dims in sizes(layer):
        found = in_autocast(layer, dims)
        assert found.equal, found.message()
        kept = {row.tensor for row in layer.ledger(precision="autocast").rows}
        assert "mlp.up.weight_cast" in kept
        assert "mlp.up.cast" not in kept


def test_a_wrong_dtype_in_autocast_is_found() -> None:
    layer = membill.layer("gpt")
    dims = sizes(layer)[0]
    factory = autocast(references.reference("gpt").factory)
    found = audit.audit_layer(layer, dims, factory=factory, device="cpu")
    assert not found.equal
    assert {item.dtype for item in found.extra} == {"bfloat16", "float32"}


def test_autocast_casts_by_the_lists_of_a_gpu() -> None:
    """The lists that PyTorch's autocast on a GPU is compiled from, which come with it."""
    header = Path(torch.__file__).parent / "include" / "ATen" / "autocast_mode.h"
    text = header.read_text(encoding="utf-8").replace("\\\n", " ")

    def listed(macro: str) -> set[str]:
        (line,) = re.findall(rf"#define {macro}\(_\)(.*)", text)
        return set(re.findall(r"_\((\w+)", line))

    narrow = listed("AT_FORALL_LOWER_PRECISION_FP")
    wide = listed("AT_FORALL_FP32") | listed("AT_FORALL_FP32_SET_OPT_DTYPE")
    assert {"linear", "matmul", "bmm", "scaled_dot_product_attention"} <= narrow
    assert set(IN_FLOAT32) <= wide
    assert not wide & {"gelu", "silu", "add", "mul", "dropout", "linear"}
    assert set(AUTOCAST.runs) == {*PRODUCTS, *IN_FLOAT32}


def test_a_cpu_alone_leaves_the_softmax_in_16_bits() -> None:
    """The one difference between what a CPU keeps and what a GPU keeps of this layer."""
    layer = membill.layer("gpt")
    dims = sizes(layer)[0]
    module = references.reference("gpt").factory(
        **{name: dims[name] for name in ("d", "h")},
        d_ff=4 * dims["d"],
        attention="eager",
        dropout=False,
    )
    x = torch.randn(dims["b"], dims["T"], dims["d"], requires_grad=True)
    on_cpu, on_gpu = (
        audit.saved(Autocast(module), x, kernels=kernels) for kernels in (False, True)
    )
    assert [s.dtype for s in on_cpu.storages if s.needed_by == "softmax"] == ["bfloat16"]
    assert [s.dtype for s in on_gpu.storages if s.needed_by == "softmax"] == ["float32"]
