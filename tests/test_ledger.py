"""Properties of the ledger that hold for every layer, variant and policy."""

from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import membill
from membill import recompute, registry
from membill.architecture import layers_of
from membill.formula import Formula
from membill.ledger import collect
from membill.recompute import region_of
from membill.symbols import beta, d, d_ff, d_k, h
from membill.tensor import Role

VARIANTS = [
    variant
    for name in sorted(registry.known().layers)
    for variant in membill.layer(name).variants()
]
ONE_CHANGE = [variant for variant in VARIANTS if len(variant.changed()) <= 1]


def label(layer: membill.Layer) -> str:
    return "-".join([layer.name, *(str(value) for value in layer.changed().values())])


def policies(layer: membill.Layer) -> Iterator[object]:
    yield from recompute.applicable(registry.known().policies.values(), layer.graph())
    yield from ([scope] for scope in layer.graph().scopes())


@st.composite
def dims(draw: st.DrawFn) -> dict[str, int]:
    """Values for every letter with the usual relations: n_kv | h | d, d <= d_ff, d << T.

    Otherwise what enters a region, and is kept when that is recomputed, may be more than what is
    made in it: more than the T by T matrices of a short sequence, or than a narrow MLP.
    """
    count = st.integers(min_value=1, max_value=8).map(lambda number: 4 * number)
    values = {name: draw(count) for name in membill.symbols.names()}
    values["T"] = draw(st.integers(min_value=10**4, max_value=10**5))
    values["h"] = values["n_kv"] * draw(count)
    values["d"] = values["h"] * draw(count)
    values["d_ff"] = values["d"] * draw(count)
    return values


def evaluate(formula: Formula, values: dict[str, int]) -> int:
    needed = {str(letter) for _, given in formula.definitions for letter in given.free_symbols}
    return int(formula(**{name: values[name] for name in {*formula.symbols, *needed}}))


def add_up(formulas: Iterable[Formula], values: dict[str, int]) -> int:
    return sum(evaluate(formula, values) for formula in formulas)


@pytest.mark.parametrize("layer", VARIANTS, ids=label)
@settings(max_examples=2)
@given(data=st.data())
def test_rows_and_scopes_add_up_to_the_total(layer: membill.Layer, data: st.DataObject) -> None:
    policy, values = data.draw(st.sampled_from(list(policies(layer)))), data.draw(dims())
    ledger = layer.ledger(recompute=policy)
    total = evaluate(layer.activations(recompute=policy), values)
    assert add_up((row.bytes for row in ledger.rows), values) == total
    assert add_up((size for _, size in ledger.by_scope()), values) == total


@pytest.mark.parametrize("layer", ONE_CHANGE, ids=label)
def test_the_derivation_ends_where_the_ledger_does(layer: membill.Layer) -> None:
    steps = layer.derivation()
    assert steps.result == layer.activations()
    assert steps.total == layer.activations(specialise=False)
    assert steps.headline == layer.activations(statistics=False)
    assert steps.total.expr.subs(dict(steps.definitions)).expand() == steps.result.expr


@pytest.mark.parametrize("layer", ONE_CHANGE, ids=label)
def test_each_storage_stands_once_and_says_why(layer: membill.Layer) -> None:
    rows = layer.ledger().entries
    assert len({row.tensor for row in rows}) == len(rows)
    kept = layer.ledger().rows
    assert all(row.needed_by and row.why and all(row.why) for row in kept)
    assert all(row.path == row.needed_by[0] for row in kept)


@pytest.mark.parametrize("layer", ONE_CHANGE, ids=label)
@settings(max_examples=3)
@given(data=st.data())
def test_more_recomputation_never_keeps_more(layer: membill.Layer, data: st.DataObject) -> None:
    scopes = layer.graph().scopes()
    more = data.draw(st.lists(st.sampled_from(scopes), min_size=1, unique=True))
    less = data.draw(st.lists(st.sampled_from(more), unique=True))
    values = data.draw(dims())
    sizes = [
        evaluate(layer.activations(recompute=policy), values)
        for policy in ("full", more, less or "none", "none")
    ]
    assert sizes == sorted(sizes), f"full, {more}, {less}, none"


@pytest.mark.parametrize("layer", ONE_CHANGE, ids=label)
def test_a_recomputed_region_keeps_what_enters_it_and_nothing_that_it_makes_for_itself(
    layer: membill.Layer,
) -> None:
    graph = layer.graph()
    for scope in graph.scopes():
        region = region_of(recompute.of_scopes([scope]), graph)
        inside = {op.path for op in graph.ops if op.path.startswith(f"{scope}.")}
        assert inside == {op.path for op in graph.ops if region(op) == scope}
        kept = {item.tensor for item in collect(graph, region=region)}
        entering = {
            tensor
            for op in graph.ops
            if op.path in inside
            for tensor in op.inputs
            if tensor.path not in inside and tensor.role is not Role.WEIGHT
        }
        assert {tensor.storage for tensor in entering} <= kept
        wanted_outside = {
            tensor.storage
            for op in graph.ops
            if op.path not in inside
            for need in op.gradients.values()
            for tensor in need.tensors
        }
        assert {tensor for tensor in kept if tensor.path in inside} <= wanted_outside


@pytest.mark.parametrize("layer", ONE_CHANGE, ids=label)
def test_full_recomputation_keeps_the_inputs_alone(layer: membill.Layer) -> None:
    rows = layer.ledger(recompute="full").rows
    assert [row.tensor for row in rows] == [tensor.label for tensor in layer.graph().inputs]


@pytest.mark.parametrize("layer", ONE_CHANGE, ids=label)
def test_the_default_width_is_two_bytes(layer: membill.Layer) -> None:
    symbolic = layer.activations(dtype_bytes=beta)
    assert symbolic.subs({beta: 2}) == layer.activations()
    assert layer.activations(dtype_bytes=2) == layer.activations()


@pytest.mark.parametrize("layer", ONE_CHANGE, ids=label)
def test_frozen_weights_keep_no_more_than_trained_ones(layer: membill.Layer) -> None:
    trained = {item.tensor for item in collect(layer.graph())}
    frozen = {
        item.tensor
        for item in collect(layer.graph(), trainable=lambda x: x.role is not Role.WEIGHT)
    }
    assert frozen < trained


def test_shared_storage_is_counted_once_and_names_all_who_need_it() -> None:
    rows = membill.layer("gpt").ledger().rows
    [shared] = [row for row in rows if row.tensor == "norms.before_attention"]
    assert shared.needed_by == ("attention.q", "attention.k", "attention.v")


def test_tables_are_apart_since_a_model_has_them_once() -> None:
    ledger = membill.layer("llama").ledger()
    assert [row.tensor for row in ledger.tables] == ["cos", "sin"]
    assert not {"cos", "sin"} & {row.tensor for row in ledger.rows}


def test_what_a_layer_puts_in_is_put_into_shapes_too() -> None:
    layer = membill.layer("gpt")
    assert d_k not in {axis for row in layer.ledger().rows for axis in row.shape}
    general = {axis for row in layer.ledger(specialise=False).rows for axis in row.shape}
    assert {d_k, d_ff} <= general
    assert layer.definitions == ((d_k, d / h), (d_ff, 4 * d))


@pytest.mark.parametrize("name", registry.known().shapes)
def test_every_model_shape_fits_its_layer(name: str) -> None:
    shape = membill.shape(name)
    assert shape.source
    for layer in layers_of(shape):
        assert membill.layer(layer).activations(specialise=False)(**shape, b=1, T=2) > 0
        assert membill.layer(layer).parameters(specialise=False)(**shape) > 0
