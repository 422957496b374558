"""Adapters of the real PEFT library on a frozen layer: what they keep, and what freezing saves."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="the audit needs PyTorch")
pytest.importorskip("peft", reason="the adapters are PEFT's")

import sympy
import torch
from peft import LoraConfig, get_peft_model

import membill
from membill import audit
from membill.audit import references, suite
from membill.dtypes import COMPUTE, FLOAT32
from membill.graph import trace
from membill.ledger import Ledger, collect, price
from membill.spec import DType, Tensor, constant, scope
from membill.symbols import T, b, beta, d, d_ff, d_k, h, n_kv
from membill.tensor import Role
from membill_specs.blocks import flash, gated_mlp
from membill_specs.ops import add, affine, cast, linear, rms_norm, rotary

RANK = 4
TARGETS = ["q", "v", "out"]


def adapted(x: Tensor, *out: object, name: str, of: DType | None) -> Tensor:
    """A linear and its adapter in the dtype `of` (by default that of x); the sum is cast back."""
    of = of or x.dtype
    with scope(name):
        y = linear(x, *out, name="base")
        middle = linear(cast(x, of, name="cast"), RANK, name="A")
        change = affine(linear(middle, *out, name="B"), name="scaled")
        return cast(add(cast(y, of, name="wide"), change), x.dtype, name="back")


def layer(x: Tensor, *, of: DType | None) -> Tensor:
    """The Llama layer with adapters on queries, values and the output."""
    cos, sin = constant("cos", T, d_k), constant("sin", T, d_k)
    y = rms_norm(x, name="first")
    q = rotary(adapted(y, h, d_k, name="q", of=of), cos, sin)
    k = rotary(linear(y, n_kv, d_k, name="k"), cos, sin)
    v = adapted(y, n_kv, d_k, name="v", of=of)
    x = add(x, adapted(flash(q, k, v), d, name="out", of=of))
    return add(x, gated_mlp(rms_norm(x, name="second"), d_ff))


def ledger(dtype: str, of: DType | None, *, through: bool) -> Ledger:
    """What is kept if the adapters alone train. through: whether x takes a gradient too."""
    wide = dtype == "float32"
    graph = trace("lora", layer, {"x": (b, T, d)}, compute=FLOAT32 if wide else COMPUTE, of=of)

    def trainable(tensor: Tensor) -> bool:
        adapter = tensor.path.endswith((".A", ".B"))
        return adapter or (through and tensor.role is not Role.WEIGHT)

    width = sympy.Integer(4 if wide else 2)
    return price(collect(graph, trainable=trainable), graph.weights, {beta: width}, ())


def module(*, through: bool, autocast: bool) -> object:
    """The reference module with PEFT's adapters, in float32 if `autocast`, and its input."""

    def make(**known: object) -> object:
        names = ("T", "d", "h", "n_kv", "d_ff", "attention", "norm", "swiglu", "dropout")
        bare = references.reference("llama").factory(**{name: known[name] for name in names})
        config = LoraConfig(r=RANK, target_modules=TARGETS)
        made = get_peft_model(bare, config, autocast_adapter_dtype=autocast)
        for name, parameter in made.named_parameters():
            parameter.requires_grad_("lora_" in name)
        x = torch.randn(*(known[name] for name in ("b", "T", "d")))
        return made, [x.requires_grad_(through)]

    return make


@pytest.mark.parametrize("device", ["meta", "cpu"])
@pytest.mark.parametrize("through", [True, False], ids=["inner-layer", "first-layer"])
@pytest.mark.parametrize("adapters", ["float32", "own dtype"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_adapters_keep_what_their_graph_says(
    dtype: str, adapters: str, through: bool, device: str
) -> None:
    autocast = adapters == "float32"  # PEFT's default
    spec = membill.layer("llama")
    for drawn in references.small_sizes(3):
        dims = suite.sizes_of(spec, drawn)
        own = ledger(dtype, FLOAT32 if autocast else None, through=through)
        with_d_k = {**dims, "d_k": drawn["d_k"]}
        found = audit.audit_layer(
            spec,
            with_d_k,
            factory=module(through=through, autocast=autocast),
            ledger=own,
            dtype=dtype,
            device=device,
        )
        assert found.equal, found.message()
