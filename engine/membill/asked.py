"""What a question about a model is asked with: numbers for letters, a plan, how to count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from membill import registry
from membill.errors import InputError
from membill.ledger import Ledger
from membill.models import Model
from membill.parts import Part
from membill.plans import Plan, names
from membill.plans import plan as make_plan
from membill.recipe import Recipe
from membill.symbols import is_defined

MARGINS = (Fraction(10, 100), Fraction(20, 100))


@dataclass(frozen=True)
class Count:
    """How a bill counts: numbers for letters, what is put in and left out, what is added."""

    values: Mapping[str, int]
    specialise: bool = True
    statistics: bool = True
    margin: Fraction | None = None

    def ledger(self, part: Part, plan: Plan) -> Ledger:
        """The ledger of one of a part."""
        return part.ledger(plan, specialise=self.specialise, statistics=self.statistics)


def asked(
    model: Model,
    plan: Plan | None = None,
    *,
    margin: object = None,
    specialise: bool = True,
    statistics: bool = True,
    **settings: Any,
) -> tuple[Plan, Count]:
    """The plan, with a recipe, and how to count; arguments and errors as in `bill`."""
    letters, of_plan = split(settings)
    how = Count(model.values(**letters), specialise, statistics, _margin(margin))
    return with_recipe(make_plan(plan, **of_plan)), how


def with_recipe(plan: Plan) -> Plan:
    """The plan, with the usual recipe if it has none."""
    if plan.recipe is not None:
        return plan
    usual = next(each for each in registry.everything(Recipe).values() if each.usual)
    return replace(plan, recipe=usual)


def split(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Values for letters, and settings of a plan; one of a name with both is the plan's."""
    of_plan = names()
    letters = {
        name: value for name, value in settings.items() if name not in of_plan and is_defined(name)
    }
    return letters, {name: value for name, value in settings.items() if name not in letters}


def _margin(given: object) -> Fraction | None:
    if given is None:
        return None
    number = isinstance(given, (int, float, Fraction)) and not isinstance(given, bool)
    if not number or not MARGINS[0] <= Fraction(str(given)) <= MARGINS[1]:
        raise InputError(f"margin = {given}: give a share from 0.1 to 0.2")
    return Fraction(str(given))
