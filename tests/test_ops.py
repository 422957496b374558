"""Each op alone: what it keeps for backward, against what PyTorch keeps."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

import membill_specs.ops
from membill import symbols
from membill.ledger import collect
from membill.symbols import T, b, d, d_k, h
from membill.tensor import Role
from membill.tracing import trace

PER_OP = tomllib.loads((Path(__file__).parent / "facts" / "published.toml").read_text("utf-8"))[
    "per_op"
]["ops"]


@pytest.mark.parametrize("name", PER_OP)
def test_op_alone_keeps_what_pytorch_keeps(name: str) -> None:
    fact: dict[str, Any] = PER_OP[name]
    op = getattr(membill_specs.ops, fact.get("op", name))
    shape = (b, T, h, d_k) if fact.get("heads") else (b, T, d)
    out = [vars(symbols)[fact["out"]]] if "out" in fact else []
    graph = trace(
        name, lambda *inputs: op(*inputs, *out), dict.fromkeys("xyz"[: fact["inputs"]], shape)
    )
    frozen = fact.get("frozen", False)
    kept = collect(graph, trainable=lambda tensor: not (frozen and tensor.role is Role.WEIGHT))
    assert sorted(item.tensor.label for item in kept) == sorted(fact["keeps"])


def test_frozen_linear_keeps_no_input_but_still_passes_the_gradient_on() -> None:
    ops = membill_specs.ops
    graph = trace("two", lambda x: ops.linear(ops.linear(ops.gelu(x), d), d), {"x": (b, T, d)})
    kept = collect(graph, trainable=lambda tensor: tensor.role is not Role.WEIGHT)
    assert [item.tensor.label for item in kept] == ["x"]


def test_nothing_is_kept_where_no_gradient_flows() -> None:
    ops = membill_specs.ops
    graph = trace("frozen", lambda x: ops.linear(ops.gelu(x), d), {"x": (b, T, d)})
    assert collect(graph, trainable=lambda tensor: False) == ()


def test_first_trainable_op_alone_keeps_when_the_input_takes_no_gradient() -> None:
    ops = membill_specs.ops
    graph = trace("head", lambda x: ops.linear(ops.gelu(x), d), {"x": (b, T, d)})
    kept = collect(graph, trainable=lambda tensor: tensor.role is Role.WEIGHT)
    assert [item.tensor.label for item in kept] == ["gelu"]


def test_a_cast_to_the_dtype_that_it_has_is_no_new_storage() -> None:
    ops = membill_specs.ops
    graph = trace("cast", lambda x: ops.gelu(ops.cast(x, x.dtype)), {"x": (b, T, d)})
    assert [item.tensor.label for item in collect(graph)] == ["x"]
