"""Model states: published bytes per parameter, and what partitioning leaves on a device."""

import tomllib
from fractions import Fraction
from pathlib import Path

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.parsing.sympy_parser import parse_expr

from membill import registry, symbols
from membill.recipe import Partition, Recipe, State, divided_at, model_states, states_total
from membill.symbols import N, N_d
from membill.units import GB

FACTS = tomllib.loads((Path(__file__).parent / "facts" / "published.toml").read_text("utf-8"))
RECIPES = registry.everything(Recipe)
PUBLISHED = {name: text for name, text in FACTS["recipes"].items() if name != "source"}
ZERO = registry.find(Partition, "zero")
STAGES = range(4)


def published(text: str) -> sympy.Expr:
    return parse_expr(text, local_dict={info.name: info.symbol for info in symbols.table()})


def states(recipe: str, stage: int = 0, parameters: object = N, devices: object = N_d) -> object:
    rows = model_states(
        RECIPES[recipe], parameters, divided=divided_at(ZERO, stage), devices=devices
    )
    return states_total(rows)


@pytest.mark.parametrize("name", PUBLISHED)
def test_bytes_of_a_recipe(name: str) -> None:
    assert states(name).expr == published(PUBLISHED[name])
    assert states(name).unit == "bytes"


@pytest.mark.parametrize("parameters", [1, 2047, 2048, 2049, 10**10])
def test_block_constants_to_the_byte(parameters: int) -> None:
    blocks = -(-parameters // 2048)
    assert states("adam-8bit")(N=parameters) == 10 * parameters + 2 * 4 * blocks


@pytest.mark.parametrize("stage", STAGES)
def test_zero_formulas(stage: int) -> None:
    derived = states(FACTS["zero"]["recipe"], stage)
    assert derived.expr == published(FACTS["zero"]["stages"][str(stage)])
    assert [str(each) for each in derived.conditions] == ["N_d | N"] * (stage > 0)


@pytest.mark.parametrize("size", FACTS["zero"]["GB"])
@pytest.mark.parametrize("stage", STAGES[1:])
def test_zero_figures(size: str, stage: int) -> None:
    row = FACTS["zero"]["GB"][size][str(stage)]
    for devices, printed in zip(FACTS["zero"]["devices"], row, strict=True):
        held = states(FACTS["zero"]["recipe"], stage, int(size), devices)()
        unit = Fraction(1, 10 ** len(printed.partition(".")[2]))
        cut_off = Fraction(held, GB) // unit
        rounded = (2 * Fraction(held, GB) + unit) // (2 * unit)
        assert Fraction(printed) / unit in (cut_off, rounded), (devices, held)


@pytest.mark.parametrize("name", RECIPES)
@settings(max_examples=20)
@given(
    parameters=st.integers(min_value=1, max_value=10**12),
    devices=st.sampled_from([1, 2, 3, 8, 1000, 10**4]),
    stage=st.sampled_from(STAGES),
)
def test_shares_cover_the_states_with_less_than_a_row_of_padding(
    name: str, parameters: int, devices: int, stage: int
) -> None:
    whole = model_states(RECIPES[name], parameters)
    shares = model_states(
        RECIPES[name], parameters, divided=divided_at(ZERO, stage), devices=devices
    )
    for all_of_it, share in zip(whole, shares, strict=True):
        if not share.divided:
            assert share.bytes == all_of_it.bytes
            continue
        # A device more parameters, and a block of its own at each level, at the most.
        widest = all_of_it.state.bytes(sympy.Integer(1)).subs(symbols.beta, 2)
        spare = devices * share.bytes() - all_of_it.bytes()
        assert 0 <= spare < devices * (widest + 1)


@pytest.mark.parametrize("name", RECIPES)
def test_shares_that_divide_add_up_to_the_whole(name: str) -> None:
    devices, each = 16, 2048 * 64 * 256
    for stage in STAGES:
        shares = model_states(
            RECIPES[name], devices * each, divided=divided_at(ZERO, stage), devices=devices
        )
        for whole, share in zip(model_states(RECIPES[name], devices * each), shares, strict=True):
            copies = 1 if share.divided else devices
            assert devices * share.bytes() == copies * whole.bytes()


def test_a_later_stage_divides_more() -> None:
    for name in RECIPES:
        sizes = [states(name, stage, 10**9, 64)() for stage in STAGES]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[0] == states(name, 0, 10**9, 1)()


def test_one_device_holds_all_at_every_stage() -> None:
    for name in RECIPES:
        assert len({states(name, stage, 12345, 1) for stage in STAGES}) == 1


def test_a_symbol_divides_only_what_it_divides() -> None:
    with pytest.raises(
        ValueError, match=r"^N_d = 3 does not divide N = 10; the plan needs N_d \| N$"
    ):
        states("adam-mixed", 1)(N=10, N_d=3)
    assert states("adam-mixed", 0)(N=10, N_d=3) == 160


def test_bits_of_double_quantisation() -> None:
    [weights] = RECIPES["nf4-frozen"].states
    own = State("weights", "weights", weights.dtype)
    assert own.bits == 4
    assert weights.bits - own.bits == sympy.Rational(1, 8) + sympy.Rational(1, 512)


def test_the_width_of_the_compute_dtype_reaches_every_state() -> None:
    assert states_total(model_states(RECIPES["adam-bf16"], dtype_bytes=4)).expr == 16 * N
