"""What a recipe keeps for each parameter, by the kind of weight."""

from fractions import Fraction

import pytest
import sympy

from membill import registry
from membill.kept import KINDS, kept
from membill.recipe import Recipe, model_states, states_total
from membill.symbols import N, n_c, n_r

RECIPES = registry.everything(Recipe)


def sums(name: str) -> dict[str, sympy.Expr]:
    return {each.name: each.total for each in kept(RECIPES[name])}


def test_all_weights_alike_come_together() -> None:
    assert sums("adam-mixed") == {"all weights": 16}
    assert sums("adam-8bit") == {"all weights": 10 + sympy.Rational(8, 2048)}


def test_a_matrix_by_its_rows_and_columns() -> None:
    assert sums("adafactor") == {
        "matrices in layers, other matrices": 8 + 4 / n_r + 4 / n_c,
        "vectors": 12,
    }
    assert sums("adam-mini")["matrices in layers, other matrices"] == 12 + 4 / n_r


def test_a_weight_by_its_place() -> None:
    assert sums("muon") == {"matrices in layers": 12, "other matrices, vectors": 16}


def test_frozen_weights_have_sums_of_their_own() -> None:
    assert sums("lora") == {"all weights": 16, "frozen: all weights": 2}
    nf4 = sympy.Rational(1, 2) + sympy.Rational(1, 64) + sympy.Rational(4, 64 * 256)
    assert sums("qlora")["frozen: matrices in layers"] == nf4
    assert sums("qlora")["frozen: other matrices, vectors"] == 2


@pytest.mark.parametrize("name", RECIPES)
def test_every_kind_has_one_place_and_sums_are_those_of_the_closed_form(name: str) -> None:
    recipe = RECIPES[name]
    groups = kept(recipe)
    for frozen in (False, True):
        kinds = [kind for each in groups if each.frozen is frozen for kind in each.kinds]
        assert sorted(kinds) == (sorted(KINDS) if not frozen or recipe.frozen else [])
    if not recipe.shaped:
        blocks = 2048 * 64 * 256  # no block of any state is rounded up
        size = states_total(model_states(recipe))(N=blocks)
        (each,) = (each.total for each in groups if not each.frozen)
        assert Fraction(size, blocks) == Fraction(int(each.p), int(each.q))
    assert N not in set().union(*(each.total.free_symbols for each in groups))
