"""Model states: published bytes per parameter, and what partitioning leaves on a device."""

import tomllib
from fractions import Fraction
from pathlib import Path

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.parsing.sympy_parser import parse_expr

import membill
from membill import registry, symbols
from membill.errors import InputError
from membill.kept import states_of_model
from membill.recipe import Partition, Recipe, divided_at, model_states, states_total
from membill.state import State
from membill.symbols import N, N_d
from membill.units import GB

FACTS = tomllib.loads((Path(__file__).parent / "facts" / "published.toml").read_text("utf-8"))
RECIPES = registry.everything(Recipe)
BY_NUMBER = [name for name, recipe in RECIPES.items() if not recipe.shaped]
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


@pytest.mark.parametrize("name", BY_NUMBER)
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


@pytest.mark.parametrize("name", BY_NUMBER)
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
    for name in BY_NUMBER:
        sizes = [states(name, stage, 10**9, 64)() for stage in STAGES]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[0] == states(name, 0, 10**9, 1)()


def test_one_device_holds_all_at_every_stage() -> None:
    for name in BY_NUMBER:
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


@pytest.mark.parametrize(("name", "each"), [("sgd", 8), ("sgd-momentum", 12), ("lion", 12)])
def test_bytes_of_at_most_one_moment(name: str, each: int) -> None:
    assert states(name).expr == each * N


def bytes_of(recipe: str, model: membill.Model, **values: int) -> dict[str, int]:
    rows = states_of_model(RECIPES[recipe], model, **values)
    return {row.state.name: row.bytes() for row in rows}


@pytest.mark.parametrize("gradient", [2, 4])
def test_megatrons_distributed_optimizer(gradient: int) -> None:
    """Megatron-LM PR 1345: (2 + g) + 12/n bytes a parameter, g bytes of them for the gradient."""
    name = {2: "adam-mixed", 4: "adam-mixed-fp32-grads"}[gradient]
    assert states(name, 1).expr == (2 + gradient) * N + 12 * N / N_d


def test_rms_norms_have_one_gain() -> None:
    """Megatron-LM PR 1345: counted as LayerNorm, 266,240 parameters of Llama 2 7B are twice."""
    model = membill.model("llama-2-7b")
    norms = [
        row.entries(**model.shape) * part.times.subs(model.shape.numbers())
        for part, row in model.weights()
        if "norm" in row.tensor
    ]
    assert sum(norms) == 266_240
    assert model.parameters()(**model.shape) == 6_738_415_616


def test_trained_parameters_of_adapters() -> None:
    """litgpt's table for Llama 2 7B; DeepSpeedExamples issue 285 for OPT-1.3B, on all linears."""
    llama = membill.model("llama-2-7b").adapt("lora", on=["q", "v"])
    assert llama.trainable_parameters()(**llama.shape, r=8) == 4_194_304
    opt = membill.model("opt-1.3b").adapt("lora", on=["attention", "mlp"])
    assert opt.trainable_parameters()(**opt.shape, r=8) == 7_077_888


def test_states_of_adapters_are_mixed() -> None:
    model = membill.model("llama-2-7b").adapt("lora", on=["q", "v"])
    found = bytes_of("lora", model, r=8)
    assert found.pop("frozen weights") == 2 * 6_738_415_616
    assert sum(found.values()) == 16 * 4_194_304
    billed = model.bill(recipe="lora", b=1, T=1, r=8)
    sizes = {name: billed.size(size) for name, size in billed.categories.items()}
    assert sizes["frozen weights"] == 2 * 6_738_415_616


def test_matrices_of_layers_are_quantised_in_qlora() -> None:
    model = membill.model("llama-2-7b").adapt("lora", on=["q", "v"])
    L, d, d_ff, V = (model.shape[name] for name in ("L", "d", "d_ff", "V"))
    found = bytes_of("qlora", model, r=8)
    own = [(d * d, 4 * L), (d * d_ff, 3 * L)]
    blocks = [(size // 2 + size // 64 + 4 * (size // 64 // 256), times) for size, times in own]
    assert found["frozen 4-bit weights"] == sum(size * times for size, times in blocks)
    assert found["frozen weights"] == 2 * (2 * V * d + 2 * L * d + d)


def test_adafactor_saves_the_moments_but_for_rows_and_columns() -> None:
    """Hugging Face, anatomy of a model's memory: some 8 bytes a parameter less than AdamW."""
    model = membill.model("bert-large")
    parameters = model.parameters()(**model.shape)
    whole, less = (sum(bytes_of(name, model).values()) for name in ("adam-mixed", "adafactor"))
    left = bytes_of("adafactor", model)["second moment"]
    assert whole - less == 8 * parameters - left
    assert left < 8 * parameters // 100


def test_experts_have_rows_and_columns_each() -> None:
    model = membill.model("mixtral-8x7b")
    d, d_e, d_k, h, n_kv, E, L, V = (
        {"d_k": 128, "d_e": 14336, **model.shape}[name]
        for name in ("d", "d_e", "d_k", "h", "n_kv", "E", "L", "V")
    )
    attention = 2 * (d + h * d_k) + 2 * (d + n_kv * d_k)
    experts = E * ((d + 2 * d_e) + (d_e + d)) + (d + E)
    numbers = L * (attention + experts + 2 * d) + 2 * (d + V) + d
    assert bytes_of("adafactor", model)["second moment"] == 4 * numbers


def test_blocks_of_adam_mini() -> None:
    model = membill.model("llama-3-8b")
    d, d_ff, h, n_kv, L, V = (model.shape[name] for name in ("d", "d_ff", "h", "n_kv", "L", "V"))
    layer = h + n_kv + n_kv * d // h + d + 2 * d_ff + d + 2
    assert bytes_of("adam-mini", model)["second moment"] == 4 * (L * layer + 2 * V + 1)


def test_muon_has_one_moment_in_layers_and_two_elsewhere() -> None:
    model = membill.model("llama-3-8b")
    d, L, V = (model.shape[name] for name in ("d", "L", "V"))
    elsewhere = 2 * V * d + 2 * L * d + d
    found = bytes_of("muon", model)
    assert found["first moment"] == found["second moment"] == 4 * elsewhere
    assert found["momentum"] == 4 * (model.parameters()(**model.shape) - elsewhere)


def test_small_tensors_keep_their_moments_in_float32() -> None:
    """bitsandbytes: tensors with fewer than 4096 entries are not quantised."""
    model = membill.model("gpt-2-124m")
    d, L, V, P = (model.shape[name] for name in ("d", "L", "V", "P"))
    small = L * (2 * 2 * d + 3 * d + d + 4 * d + d) + 2 * d
    large = [(V * d, 1), (P * d, 1), (3 * d * d, L), (d * d, L), (4 * d * d, 2 * L)]
    quantised = sum((size - 4 * (-size // 2048)) * times for size, times in large)
    assert bytes_of("adam-8bit", model)["first moment"] == 4 * small + quantised


@pytest.mark.parametrize("name", RECIPES)
def test_a_bill_has_the_states_of_the_model(name: str) -> None:
    model = membill.model("llama-3-8b")
    for stage in STAGES:
        rows = states_of_model(RECIPES[name], model, divided=divided_at(ZERO, stage), devices=8)
        billed = model.bill(recipe=name, b=1, T=1, zero=stage, dp=8)
        found = {each: billed.size(size) for each, size in billed.categories.items()}
        assert {row.state.name: row.bytes() for row in rows}.items() <= found.items()


def test_a_recipe_by_shapes_needs_a_model() -> None:
    with pytest.raises(InputError, match="keeps second moment by the shapes of weights, not by"):
        states("adafactor")
    with pytest.raises(InputError, match=r"^model 'llama': no value for V: give V=...$"):
        states_of_model(RECIPES["adafactor"], membill.model("llama"))
