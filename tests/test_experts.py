"""A mixture of experts: what it keeps, what its weights are, and how a mesh divides both."""

from __future__ import annotations

from math import prod

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as some

import membill
from membill import printer, registry
from membill.errors import InputError
from membill.formula import Formula
from membill.layers import Layer
from membill.ledger import Row
from membill.mesh import replication, shard
from membill.plans import plan
from membill.spec import FLOAT32
from membill.symbols import E, L, T, V, b, c, d, d_e, d_k, e, h, k, n_kv, t, t_e

SIZES = {b: 2, T: 64, d: 128, h: 16, n_kv: 8, d_k: 8, d_e: 96, E: 8, k: 2}
DEGREES = {"tp": (1, 2, 4, 8), "ep": (1, 2, 4, 8), "etp": (1, 2, 3, 16), "cp": (1, 2, 4)}
SHARDED = {"tp": t, "sp": True, "ep": e, "etp": t_e}


@pytest.fixture(scope="module")
def mixtral() -> Layer:
    return membill.layer("mixtral")


def rows(layer: Layer, **settings: object) -> dict[str, Row]:
    return {row.tensor: row for row in layer.ledger(specialise=False, **settings).entries}


def of_experts(layer: Layer, **settings: object) -> sympy.Expr:
    """Bytes kept within the experts, less the numbers of the kernels' bookkeeping."""
    ledger = layer.ledger(statistics=False, **settings)
    return dict(ledger.by_scope())["experts"].expr


def entries(shape: tuple[sympy.Expr, ...]) -> int:
    return prod(int(axis.subs(SIZES)) for axis in shape)


SHAPES = {name: row.shape for name, row in rows(membill.layer("mixtral")).items()}


# The layer


def test_each_token_is_kept_once_for_each_of_its_experts(mixtral: Layer) -> None:
    dispatched = 2 * d + 2 * d  # copied tokens and what the experts make of them, bfloat16
    within = 4 * d_e + 2 * d_e + 2 * d_e  # gate and up, silu(gate), the product
    routing = 3 * 8 + 4  # three int64 orders and a float32 weight
    assert of_experts(mixtral) == sympy.expand(k * T * b * (dispatched + within + routing))


def test_fused_swiglu_keeps_gate_and_up_alone(mixtral: Layer) -> None:
    saved = of_experts(mixtral) - of_experts(mixtral.variant(swiglu="fused"))
    assert saved == 2 * k * T * b * d_e


def test_both_products_share_one_storage_of_offsets(mixtral: Layer) -> None:
    ends = rows(mixtral)["experts.group_ends"]
    assert (ends.shape, ends.dtype.name, ends.bytes.expr) == ((E,), "int32", 4 * E)
    assert ends.needed_by == ("experts.gate_up", "experts.down")


def test_weights_of_the_sum_are_float32_and_so_is_their_product(mixtral: Layer) -> None:
    made = {op.path: op.output for op in mixtral.graph().ops}
    assert made["experts.dispatch.weights"].dtype == FLOAT32
    assert made["experts.combine.weighted"].dtype == FLOAT32
    assert made["experts.combine.cast"].dtype == made["experts.down"].dtype != FLOAT32


def test_frozen_experts_keep_no_tokens(mixtral: Layer) -> None:
    gone = rows(mixtral).keys() - rows(mixtral.freeze("experts")).keys()
    assert gone == {"experts.dispatch.tokens", "experts.product"}


def test_recomputed_experts_keep_what_enters_them(mixtral: Layer) -> None:
    kept = [row for row in rows(mixtral, recompute=["experts"]).values() if row.needed_by]
    assert not [row.tensor for row in kept if row.tensor.startswith("experts.")]
    assert {row.tensor for row in kept if "experts" in row.needed_by} == {
        "attention.residual",
        "norms.before_experts.gain",
        "router.weights",
    }


def test_a_token_costs_the_products_of_its_own_experts(mixtral: Layer) -> None:
    in_experts = (op.flops for op in mixtral.graph().ops if op.path.startswith("experts."))
    assert sympy.expand(sympy.Add(*in_experts)) == 2 * 3 * k * T * b * d * d_e


def test_parameters_of_mixtral_8x7b(mixtral: Layer) -> None:
    """Embedding, layers, the final norm and the head: the total of the published weights."""
    whole = mixtral.parameters() * L + Formula(2 * V * d + d, "parameters")
    assert whole(**membill.shape("mixtral-8x7b")) == 46_702_792_704


# The mesh


def test_dispatched_tokens_are_conserved(mixtral: Layer) -> None:
    one = of_experts(mixtral, tp=t, sp=True)
    assert one == sympy.expand(of_experts(mixtral) / t)
    assert one == of_experts(mixtral, tp=t, sp=True, ep=e) == of_experts(mixtral, **SHARDED)
    assert one.coeff(d_e) == 8 * k * T * b / t


def test_activations_of_a_device(mixtral: Layer) -> None:
    found = mixtral.activations(specialise=False, statistics=False, **SHARDED)
    tokens = 16 * d + 4 * h * d_k + 4 * n_kv * d_k + 4 * h + 4 * E + 4 * k * d + 8 * k * d_e
    assert found.expr == sympy.expand((tokens + 40 * k) * T * b / t)


def test_parameters_of_a_device(mixtral: Layer) -> None:
    found = mixtral.parameters(specialise=False, **SHARDED)
    attention = 2 * d * d_k * (h + n_kv) / t
    experts = 3 * E * d * d_e / (e * t_e)
    assert found.expr == sympy.expand(attention + E * d + experts + 2 * d)
    assert [str(condition) for condition in found.conditions] == [
        "t | h",
        "t | n_kv",
        "e | E",
        "t_e | d_e",
    ]
    assert "3Ed·d_e/(e·t_e)" in str(found)


def test_weights_of_experts_are_divided_by_their_own_axes(mixtral: Layer) -> None:
    held = {name: row.shape for name, row in rows(mixtral, **SHARDED).items()}
    assert held["experts.gate_up.weight"] == (E / e, d, 2 * d_e / t_e)
    assert held["experts.down.weight"] == (E / e, d_e / t_e, d)
    assert held["router.logits.weight"] == (d, E)
    assert held["router.softmax"] == (b, T / t, E)


def test_tables_of_positions_are_whole_where_heads_are_divided(mixtral: Layer) -> None:
    assert rows(mixtral, tp=t, sp=True)["cos"].shape == (T, d_k)
    assert rows(mixtral, cp=c)["cos"].shape == (T / c, d_k)


def test_a_degree_that_does_not_divide_is_an_error_with_both_numbers(mixtral: Layer) -> None:
    sizes = membill.shape("mixtral-8x7b")
    with pytest.raises(InputError, match=r"3 does not divide E = 8; the plan needs 3 \| E"):
        mixtral.parameters(ep=3)(**sizes)
    with pytest.raises(InputError, match=r"5 does not divide d_e = 14336"):
        mixtral.parameters(etp=5)(**sizes)
    assert mixtral.parameters(ep=8, etp=4)(**sizes) == 41_984_000 + 44_040_192


def test_degrees_of_experts_leave_other_layers_as_they_are() -> None:
    layers = map(membill.layer, registry.known().layers)
    for layer in (layer for layer in layers if str(E) not in layer.parameters().symbols):
        for count in (layer.activations, layer.parameters):
            assert count(ep=e, etp=t_e) == count()


@given(**{name: some.sampled_from(degrees) for name, degrees in DEGREES.items()})
@settings(max_examples=30)
def test_parts_on_all_devices_add_up(tp: int, ep: int, etp: int, cp: int) -> None:
    degrees = {"tp": tp, "ep": ep, "etp": etp, "cp": cp}
    mesh = plan(**degrees, sp=True).mesh
    for name, shape in SHAPES.items():
        part, whole = entries(shard(shape, mesh).shape), entries(shape)
        copies = replication(shape, mesh).subs(SIZES)
        assert copies.is_Integer
        assert prod(degrees.values()) * part == whole * copies
        if name.startswith("experts.") and name.endswith(".weight"):
            assert copies == tp * cp
        elif d_e in sympy.Mul(*shape).free_symbols:
            assert copies == ep * etp


def test_a_quotient_by_a_product_is_written_in_brackets() -> None:
    assert printer.text(d / (e * t_e)) == "d/(e·t_e)"
    assert printer.text(d / t_e) == "d/t_e"
