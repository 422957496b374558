"""What recomputation costs, and what dropping single results keeps."""

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import membill
from membill import registry
from membill.diff import saves_nothing_of_squares
from membill.graph import Op
from membill.layers import Layer
from membill.rebuild import outcome
from membill.recompute import FULL, NONE, dropping
from membill.symbols import T, b, d, r
from membill.tensor import Role, Tensor
from membill.tracing import trace
from membill_specs.ops import linear, silu

LAYERS = [membill.layer(name) for name in sorted(registry.known().layers)]
EAGER = [layer.variant(attention="eager") for layer in LAYERS]
ALL = [*LAYERS, *(layer for layer in EAGER if layer not in LAYERS)]


def label(layer: Layer) -> str:
    return "-".join([layer.name, *(str(value) for value in layer.changed().values())])


@pytest.mark.parametrize("layer", ALL, ids=label)
def test_nothing_is_free_and_full_is_one_forward(layer: Layer) -> None:
    assert layer.price(recompute="none").rerun.expr == 0
    assert layer.price(recompute="none").ratio == 0
    assert layer.price(recompute="full").rerun == layer.flops()


@pytest.mark.parametrize("layer", EAGER, ids=label)
def test_full_is_a_third_of_the_step_where_each_product_has_two_gradients(layer: Layer) -> None:
    assert layer.price(recompute="full").ratio == sympy.Rational(1, 3)


@pytest.mark.parametrize("layer", LAYERS, ids=label)
def test_full_is_half_of_the_step_where_no_weight_is_trained(layer: Layer) -> None:
    weights = [weight.label for weight in layer.graph().weights]
    eager = layer.variant(attention="eager").freeze(*weights)
    price = eager.price(recompute="full")
    products = sum(op.flops for op in eager.graph().ops if _has_weight(op))
    rest = layer.formula(products, "FLOPs").expr
    whole = eager.flops().expr
    assert price.step.expr == sympy.expand(whole + rest + 2 * (whole - rest))


def _has_weight(op: Op) -> bool:
    return any(tensor.role is Role.WEIGHT for tensor in op.gradients)


def test_selective_costs_a_few_percent_on_gpt3() -> None:
    price = membill.layer("gpt").price(recompute="selective")
    assert price.ratio == T / (3 * (T + 6 * d))
    at = {**membill.shape("gpt-3-175b"), "b": 1, "T": 2048}
    assert 0.005 < sympy.Rational(price.rerun(**at), price.step(**at)) < 0.03


def test_flash_attention_pays_for_its_own_recomputation_already() -> None:
    """Its backward pass has five products for forward's two, eager attention's four."""
    eager, flash = (
        membill.layer("gpt", attention=kernel).price().step.expr for kernel in ("eager", "flash")
    )
    core = membill.layer("gpt").flops().expr.coeff(T**2) * T**2
    assert sympy.expand(flash - eager) == core / 2


def drawn(layer: Layer, data: st.DataObject, names: list[str]) -> set[str]:
    return set(data.draw(st.lists(st.sampled_from(names), unique=True, max_size=8)))


def dropped(layer: Layer, names: set[str]) -> tuple[set[Tensor], set[str]]:
    found = outcome(layer.graph(), dropping(lambda op: op.path in names), layer.trainable)
    return {item.tensor for item in found.kept}, {op.path for op in found.rerun}


@pytest.mark.parametrize("layer", ALL, ids=label)
@settings(max_examples=8)
@given(data=st.data())
def test_dropping_more_keeps_no_more_but_what_the_layer_is_given(
    layer: Layer, data: st.DataObject
) -> None:
    """The theorem: only inputs of the layer, which nothing can rebuild, are ever added."""
    names = [op.path for op in layer.graph().ops]
    less = drawn(layer, data, names)
    more = less | drawn(layer, data, names)
    kept_less, rerun_less = dropped(layer, less)
    kept_more, rerun_more = dropped(layer, more)
    made_by = {tensor: tensor.path for tensor in kept_more - kept_less}
    assert not any(made_by.values()), "only what no op makes is added"
    assert rerun_less <= rerun_more
    assert not {tensor.path for tensor in kept_more} & more


@pytest.mark.parametrize("layer", ALL, ids=label)
def test_dropping_nothing_and_everything_are_none_and_full(layer: Layer) -> None:
    graph = layer.graph()
    keeps = {
        policy.name: {item.tensor for item in outcome(graph, policy, layer.trainable).kept}
        for policy in (NONE, FULL)
    }
    assert dropped(layer, set()) == (keeps["none"], set())
    everything, _ = dropped(layer, {op.path for op in graph.ops})
    assert {tensor for tensor in everything if tensor.role is not Role.TABLE} == {
        tensor for tensor in keeps["full"] if tensor.role is not Role.TABLE
    }


def test_dropping_can_add_the_input_that_it_starts_from() -> None:
    """The float32 copy goes and the 16-bit input comes, which nobody else needs."""
    layer = membill.layer("llama", norm="hugging-face")
    copy = "norms.before_attention.float32"
    less = {item.label for item in dropped(layer, set())[0]}
    more = {item.label for item in dropped(layer, {copy})[0]}
    assert more - less == {"x"}
    assert less - more == {copy}


def test_dropping_what_is_smaller_than_the_input_keeps_more() -> None:
    """So that it never does is no theorem: of an op beside the layer's input, r wide, it does."""

    def narrow(x: Tensor) -> Tensor:
        return silu(linear(x, r, name="down"))

    graph = trace("narrow", narrow, {"x": (b, T, d)})
    frozen = dropping(lambda op: op.path == "down")
    kept = {
        policy: {
            item.tensor.label
            for item in outcome(graph, policy, lambda tensor: tensor.role is not Role.WEIGHT).kept
        }
        for policy in (NONE, frozen)
    }
    assert kept == {NONE: {"down"}, frozen: {"x"}}


@pytest.mark.parametrize("layer", ALL, ids=label)
@settings(max_examples=4)
@given(data=st.data())
def test_what_is_rebuilt_can_be_rebuilt_from_what_is_kept(
    layer: Layer, data: st.DataObject
) -> None:
    graph = layer.graph()
    kept, rerun = dropped(layer, drawn(layer, data, [op.path for op in graph.ops]))
    needed = {
        tensor.storage
        for op in graph.ops
        for need in op.gradients.values()
        for tensor in need.tensors
    }
    available = set(kept)
    for op in graph.ops:
        if op.path in rerun:
            sources = {tensor.storage for tensor in op.inputs}
            assert all(
                source in available or source.path in rerun or source.role in AT_HAND
                for source in sources
            )
    missing = {
        tensor
        for tensor in needed - available
        if tensor.role not in AT_HAND and tensor.path not in rerun
    }
    assert not missing


AT_HAND = (Role.WEIGHT, Role.TABLE)


def words(layer: Layer, policy: object) -> str:
    return saves_nothing_of_squares(layer.ledger(), layer.price(recompute=policy).rerun)


def saved(layer: Layer, policy: object) -> sympy.Expr:
    return layer.activations().expr - layer.activations(recompute=policy).expr


@pytest.mark.parametrize("layer", LAYERS, ids=label)
def test_a_fused_core_is_told_that_recomputing_it_saves_nothing_of_the_matrices(
    layer: Layer,
) -> None:
    fused, eager = (layer.variant(attention=kernel) for kernel in ("flash", "eager"))
    assert words(fused, "selective") == (
        "nothing of T²: without recomputation, too, no tensor with two T axes is kept"
    )
    assert sympy.degree(saved(fused, "selective"), T) < 2
    assert words(eager, "selective") == ""
    assert sympy.degree(saved(eager, "selective"), T) == 2


@pytest.mark.parametrize("policy", ["none", "full", ["mlp"]])
def test_nothing_is_said_where_no_matrix_alone_is_paid_for(policy: object) -> None:
    assert words(membill.layer("gpt", attention="flash"), policy) == ""
    assert words(membill.layer("gpt"), policy) == ""
