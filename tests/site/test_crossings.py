"""Where lines over T cross: the least whole T, only within what is drawn."""

import pytest
import sympy
from markupsafe import Markup

import membill
from membill import symbols
from membill.formula import Formula
from membill.recipe import Recipe
from membill.registry import everything, known, shape
from membill.render import crossings, facts, models
from membill.symbols import T

POLICIES = tuple(known().policies.values())
USUAL = next(recipe for recipe in everything(Recipe).values() if recipe.usual)
LENGTHS = (1024, 2048, 4096)
GPT = shape("gpt-3-175b")


def test_one_line_exceeds_another_from_a_whole_length() -> None:
    formulas = {"steep": Formula(T**2, "bytes"), "flat": Formula(sympy.Integer(1500**2), "bytes")}
    steep, flat = crossings.lines(formulas, GPT, LENGTHS)
    (found,) = steep.crossings
    assert (found.at, found.value, found.label) == (1501, 1501**2, "T = 1,501")
    assert found.words == Markup("<b>steep</b> exceeds <b>flat</b> from")
    assert flat.crossings == []
    assert crossings.listed([flat, steep]) == (found,)


@pytest.mark.parametrize("other", [T, 1024 * T, 4096 * T, T**2 + 1, T**2])
def test_lines_that_do_not_cross_within_have_no_crossing(other: sympy.Expr) -> None:
    formulas = {"one": Formula(T**2, "bytes"), "other": Formula(other, "bytes")}
    assert crossings.listed(crossings.lines(formulas, GPT, LENGTHS)) == ()


def test_a_model_keeps_more_than_its_states_from_some_length() -> None:
    model = membill.model("llama-3-8b")
    lines = models.against_length(model, model.shape, POLICIES, USUAL)
    found = next(c for line in lines for c in line.crossings if line.name == "none")
    kept = model.activations()
    states = next(line for line in lines if line.name == "model states").points[1024]
    sizes = {**model.shape, "b": 1}
    assert kept(**sizes, T=found.at - 1) <= states < kept(**sizes, T=found.at) == found.value


def test_where_squares_take_over_in_a_mode() -> None:
    layer = membill.layer("gpt")
    found = {
        mode.name: list(crossings.squares(mode, mode.name, GPT, LENGTHS))
        for mode in (facts.default_mode(layer), *facts.modes(layer, POLICIES))
    }
    (only,) = found.pop("dropout = off")
    assert only.form == membill.crossover(layer.variant(dropout=False))
    there = only.form.subs({symbols.d: GPT["d"], symbols.h: GPT["h"]})
    assert only.at - 1 < there <= only.at
    assert not any(found.values()), "before the first length, or never"
