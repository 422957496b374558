"""Properties of meshes: what each device holds, counted device by device."""

import itertools
from math import prod
from typing import Any

import numpy
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import membill
from membill import InputError, registry
from membill.layers import Layer
from membill.ledger import Row
from membill.mesh import Axis, Mesh, Rule, mesh_of, replication, shard
from membill.symbols import E, T, V, b, c, d, d_e, d_ff, d_k, d_s, e, h, k, n_kv, named, t, t_e
from membill.tensor import Role

LAYERS = [membill.layer(name) for name in sorted(registry.known().layers)]
AXES = ("tp", "cp", "ep", "etp")
SMALL = {
    "b": 2,
    "T": 16,
    "d": 32,
    "h": 8,
    "n_kv": 4,
    "d_k": 4,
    "d_ff": 24,
    "V": 40,
    "E": 4,
    "k": 2,
    "d_e": 12,
    "d_s": 24,
    "d_q": 6,
    "d_c": 10,
    "d_n": 4,
    "d_r": 2,
    "d_v": 6,
}
"""Sizes that every degree below divides, key-value heads apart."""
SIZES = {named(name).symbol: sympy.Integer(size) for name, size in SMALL.items()}


def label(layer: Layer) -> str:
    return layer.name


@st.composite
def meshes(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "tp": draw(st.sampled_from([1, 2, 4, 8])),
        "cp": draw(st.sampled_from([1, 2])),
        "ep": draw(st.sampled_from([1, 2, 4])),
        "etp": draw(st.sampled_from([1, 2])),
        "sp": draw(st.booleans()),
    }


def mesh(plan: dict[str, Any]) -> Mesh:
    return membill.plan(**plan).mesh


def part_by_hand(
    shape: tuple[sympy.Expr, ...], plan: dict[str, Any], rank: dict[str, int]
) -> tuple[slice, ...]:
    """The slices of a tensor that the device at `rank` holds, spelled out.

    Tensor parallelism takes heads, else key-value heads, else the feed-forward width, else the
    vocabulary, else, with sequence parallelism, the tokens of a batch. A device holds at least
    one key-value head. Expert parallelism takes the experts' weights alone, by expert and by width.
    """
    bounds = [(0, int(axis.xreplace(SIZES))) for axis in shape]

    def divide(letter: sympy.Symbol, axis: str) -> bool:
        for place, dim in enumerate(shape):
            if dim.has(letter):
                start, stop = bounds[place]
                parts = min(plan[axis], stop - start) if letter == n_kv else plan[axis]
                width = (stop - start) // parts
                first = start + rank[axis] * parts // plan[axis] * width
                bounds[place] = (first, first + width)
                return True
        return False

    tokens = [T] if plan["sp"] and b in shape else []
    any(divide(letter, "tp") for letter in (h, n_kv, d_ff, d_s, V, *tokens))
    divide(T, "cp")
    if any(axis.has(E) for axis in shape) and any(axis.has(d_e) for axis in shape):
        divide(E, "ep")
        divide(d_e, "etp")
    return tuple(slice(*bound) for bound in bounds)


def every_shape() -> set[tuple[sympy.Expr, ...]]:
    """Of what any variant keeps, tables and weights too, but for axes of several parts."""
    kept = {
        row.shape
        for layer in LAYERS
        for variant in (layer, *layer.neighbours())
        for row in variant.ledger(specialise=False).entries
    }
    return {shape for shape in kept if not any(axis.expand().is_Add for axis in shape)}


SHAPES = sorted(every_shape(), key=str)


@settings(max_examples=15)
@given(plan=meshes())
def test_shards_cover_each_entry_of_a_tensor_as_often_as_its_replication(
    plan: dict[str, Any],
) -> None:
    degrees, run = [plan[axis] for axis in AXES], mesh(plan)
    assert len(SHAPES) > 30
    for shape in SHAPES:
        copies = numpy.zeros([int(axis.xreplace(SIZES)) for axis in shape], dtype=int)
        derived = tuple(int(axis.xreplace(SIZES)) for axis in shard(shape, run).shape)
        for numbers in itertools.product(*map(range, degrees)):
            part = part_by_hand(shape, plan, dict(zip(AXES, numbers, strict=True)))
            copies[part] += 1
            assert copies[part].shape == derived, (shape, plan)
        often = replication(shape, run).xreplace(SIZES)
        assert copies.min() == copies.max() == often, (shape, plan)
        assert prod(degrees) * prod(derived) == often * copies.size


def of_one_head(row: Row) -> bool:
    """Whether an axis has a number of heads beside h: that part of it is on every device."""
    return any(
        axis.has(h) and (axis / d_k).expand().subs({h: 0, n_kv: 0}) != 0 for axis in row.shape
    )


def bytes_of(row: Row) -> int:
    return int(row.bytes(**SMALL))


@pytest.mark.parametrize("layer", LAYERS, ids=label)
@settings(max_examples=2)
@given(plan=meshes())
def test_bytes_over_all_devices_are_the_whole_times_its_replication(
    layer: Layer, plan: dict[str, Any]
) -> None:
    devices = prod(plan[axis] for axis in AXES)
    whole, split = (layer.ledger(specialise=False, **given) for given in ({}, plan))
    for row, part in zip(whole.entries, split.entries, strict=True):
        if of_one_head(row):
            continue
        often = replication(row.shape, mesh(plan)).xreplace(SIZES)
        assert devices * bytes_of(part) == often * bytes_of(row), part.tensor
        assert (part.dtype, part.needed_by) == (row.dtype, row.needed_by)


@pytest.mark.parametrize("layer", LAYERS, ids=label)
def test_degrees_of_one_change_nothing(layer: Layer) -> None:
    for sp in (False, True):
        assert layer.ledger(**dict.fromkeys(AXES, 1), sp=sp) == layer.ledger()
    split = membill.plan(tp=8, sp=True, cp=2)
    assert layer.ledger(split, tp=1, cp=1) == layer.ledger()
    assert layer.ledger(split) != layer.ledger()


@pytest.mark.parametrize("layer", LAYERS, ids=label)
def test_symbolic_degrees_at_numbers_are_numeric_degrees(layer: Layer) -> None:
    letters = layer.activations(specialise=False, tp=t, sp=True, cp=c)
    numbers = layer.activations(specialise=False, tp=4, sp=True, cp=2)(**SMALL)
    assert letters(**SMALL, t=4, c=2) == numbers
    assert letters.subs({t: 4, c: 2})(**SMALL) == numbers


@pytest.mark.parametrize("layer", LAYERS, ids=label)
def test_what_is_not_replicated_is_the_whole_over_the_degrees(layer: Layer) -> None:
    """With sequence parallelism that is all that has a token axis."""
    settings = {"specialise": False, "statistics": False}
    whole = layer.ledger(**settings)
    split = layer.ledger(**settings, tp=t, cp=c, sp=True)
    for row, part in zip(whole.rows, split.rows, strict=True):
        if of_one_head(row):
            continue
        divided = t * c if row.bytes.expr.has(T) else 1
        assert part.bytes.expr == sympy.expand(row.bytes.expr / divided), row.tensor


@pytest.mark.parametrize("layer", LAYERS, ids=label)
def test_more_devices_never_hold_more_each(layer: Layer) -> None:
    held = [layer.activations(specialise=False, tp=tp, sp=True)(**SMALL) for tp in (1, 2, 4, 8)]
    assert held == sorted(held, reverse=True)


def test_key_value_heads_are_replicated_once_a_device_holds_one() -> None:
    rows = membill.layer("llama").ledger(specialise=False).rows
    [shape] = {row.shape for row in rows if row.tensor == "attention.v"}
    assert shape == (b, T, n_kv, d_k)
    at = {n_kv: 8}
    often = [replication(shape, mesh({"tp": tp})).subs(at) for tp in (1, 2, 8, 16, 64)]
    assert often == [1, 1, 1, 2, 8]
    layer = membill.layer("llama").activations(tp=12)
    with pytest.raises(
        InputError, match=r"^12 does not divide n_kv = 8; the plan needs 12 \| n_kv or n_kv \| 12$"
    ):
        layer(b=1, T=12, d=48, h=24, n_kv=8, d_ff=24)


def test_each_part_of_a_fused_projection_is_divided_by_itself() -> None:
    fused = shard((d, d_k * (h + 2 * n_kv)), mesh({"tp": 16}))
    assert fused.shape[1].expand() == d_k * h / 16 + 2 * d_k * sympy.ceiling(n_kv / 16)
    assert [str(each) for each in fused.conditions] == ["16 | h", "16 | n_kv or n_kv | 16"]
    one_head = shard((d, d_k * (h + 2)), mesh({"tp": t}))
    assert one_head.shape[1].expand() == d_k * h / t + 2 * d_k


def test_an_axis_of_the_mesh_divides_a_tensor_once_and_two_axes_may_divide_one() -> None:
    scores = shard((b, h, T, T), mesh({"tp": t, "cp": c, "sp": True}))
    assert scores.shape == (b, h / t, T / c, T)
    tokens = shard((b, T, d), mesh({"tp": t, "cp": c, "sp": True}))
    assert tokens.shape == (b, T / (t * c), d)
    assert "tc | T" in [str(each) for each in tokens.conditions]


def test_weights_of_experts_are_divided_by_expert_and_by_width_and_nothing_else_is() -> None:
    plan = {"tp": t, "ep": e, "etp": t_e}
    assert shard((E, d, d_e), mesh(plan)).shape == (E / e, d, d_e / t_e)
    assert replication((E, d, d_e), mesh(plan)) == t
    for other in ((d, E), (b, T, E), (b, T, k, d_e), (E,)):
        assert shard(other, mesh(plan)).shape == other


def test_expert_parallelism_conserves_dispatched_tokens() -> None:
    layer = membill.layer("mixtral")
    kept = layer.activations(tp=t, sp=True)
    assert layer.activations(tp=t, sp=True, ep=e) == kept
    assert layer.parameters(ep=e).expr.coeff(1 / e) != 0


def test_conditions_come_with_what_they_are_for() -> None:
    layer = membill.layer("llama")
    said = [str(each) for each in layer.activations(tp=t, sp=True).conditions]
    assert sorted(said) == ["t | T", "t | d_ff", "t | h", "t | n_kv"]
    assert [str(each) for each in layer.activations().conditions] == []
    assert [str(each) for each in layer.activations(tp=t, recompute="full").conditions] == []


def test_a_plan_is_a_base_for_others_and_never_changes() -> None:
    base = membill.plan(tp=8, sp=True)
    layer = membill.layer("gpt")
    assert layer.activations(base) == layer.activations(tp=8, sp=True)
    assert layer.activations(base, tp=2) == layer.activations(tp=2, sp=True)
    assert layer.activations(base, sp=False, recompute="selective") == layer.activations(
        tp=8, recompute="selective"
    )
    assert base == membill.plan(tp=8, sp=True)
    assert membill.plan(base) == base


def test_a_new_axis_takes_a_name_and_its_rules_alone() -> None:
    axes = {"wp": Axis("wp", e, "The model's width is divided.")}
    found = mesh_of(axes, (Rule(d, "wp"),), {"wp": 4})
    assert shard((b, T, d), found).shape == (b, T, d / 4)
    assert replication((d,), found) == 1
    assert replication((b, T), found) == 4


def test_policies_and_meshes_do_not_mind_each_other() -> None:
    layer = membill.layer("gpt")
    for policy in ("none", "selective", "full"):
        kept = [row.tensor for row in layer.ledger(recompute=policy).rows]
        assert [row.tensor for row in layer.ledger(recompute=policy, tp=8, cp=2).rows] == kept
        assert layer.price(recompute=policy, tp=8) == layer.price(recompute=policy)


def test_masks_and_statistics_are_divided_as_their_tensors_are() -> None:
    split = {row.tensor: row for row in membill.layer("gpt").ledger(tp=t).rows}
    mask, output = split["attention.core.dropout.mask"], split["attention.core.dropout"]
    assert mask.role is Role.MASK
    assert mask.shape == output.shape
