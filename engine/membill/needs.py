"""What must fit into a device's memory: the one place where that is decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import sympy

from membill.asked import Count
from membill.bill import of_stage
from membill.errors import InputError
from membill.formula import Formula
from membill.models import Model
from membill.parts import Part
from membill.peak import number, peak_of
from membill.plans import Plan
from membill.recipe import GRADIENTS
from membill.shares import Shares, shares
from membill.symbols import N_d, named, p


@dataclass(frozen=True)
class Need:
    """What must fit on a device of one stage at one moment of a step, in bytes.

    at: the moment in words; empty for a recipe that trains nothing, whose bill is there all along.
    """

    stage: int
    at: str
    size: Formula

    @property
    def bytes(self) -> int:
        """The bytes, if no letter is left in them; InputError otherwise."""
        return int(self.size())


def needed(model: Model, plan: Plan, how: Count, stage: int, at: str = "") -> Iterator[Need]:
    """What a device of one stage needs at each moment of a step that can be the fullest.

    at: the only moments that are asked for, in words; all unless told. With a recipe that keeps
    no gradients, and so trains nothing, it is all that the bill says.
    """
    own = of_stage(model, plan, stage, how)
    if not any(state.kind == GRADIENTS for state in own.recipe.states):
        yield Need(stage, "", own.total)
        return
    found = peak_of(own, how)
    for event in found.events:
        if at in {"", event.name} and number(event.times, found, {}) > 0:
            yield Need(stage, event.name, event.total)


def fullest(model: Model, plan: Plan, how: Count) -> Iterator[Need]:
    """What the stages need one of which is the fullest, whatever the sizes.

    Raises InputError for a pipeline whose degree is not a number.
    """
    found = {stage: shares(model, plan, stage, how.values) for stage in range(_stages(plan))}
    for stage, own in found.items():
        others = (other for at, other in found.items() if at < stage or not _within(other, own))
        if not any(_within(own, other) for other in others if other is not own):
            yield from needed(model, plan, how, stage)


def most(here: Model, plan: Plan, how: Count) -> Need:
    """The most that a device needs, of a model with its numbers put in; the first of equals.

    Raises InputError if the bytes are not a number.
    """
    return max(fullest(here, plan, put_in(how)), key=lambda need: need.bytes)


def put_in(how: Count) -> Count:
    """How to count a model with its numbers put in."""
    return replace(how, values={}, specialise=True)


def numbered(model: Model, values: Mapping[str, int]) -> Model:
    """The model with numbers put in for letters, so that sizes are summed as numbers."""
    numbers = {named(name).symbol: sympy.Integer(size) for name, size in values.items()}

    def with_numbers(part: Part) -> Part:
        own = ((symbol, given.subs(numbers)) for symbol, given in part.layer.definitions)
        definitions = tuple({**dict(own), **numbers}.items())
        layer = replace(part.layer, definitions=definitions)
        return replace(part, layer=layer, times=part.times.subs(numbers))

    return model.each(with_numbers)


def check(model: Model, plan: Plan, how: Count, *letters: sympy.Symbol) -> None:
    """InputError, in the model's letters, if a letter but these has no value or does not divide."""
    known = {named(name).symbol: size for name, size in how.values.items()}
    size = of_stage(model, plan, 0, how).total
    missing = size.expr.free_symbols - known.keys() - set(letters)
    if N_d in missing:
        raise InputError("dp has no number: give dp=...")
    if missing:
        names = sorted(map(str, missing))
        raise InputError(f"no value for {', '.join(names)}: give it as {names[0]}=...")
    size.subs({letter: value for letter, value in known.items() if letter not in letters})


def budget(memory: object, margin: Fraction | None) -> int:
    """The most bytes that fit into `memory` with a margin, which is rounded up to a byte.

    Raises InputError unless memory is an int > 0.
    """
    if isinstance(memory, bool) or not isinstance(memory, int) or memory <= 0:
        raise InputError(
            f"memory = {memory!r}: give the bytes of one device as an integer > 0, "
            "such as 80 * 10**9"
        )
    return int(memory // (1 + (margin or 0)))


def with_margin(size: int, margin: Fraction | None) -> int:
    """A size with its margin, rounded up to a byte."""
    return size - int(-size * (margin or 0) // 1)


def _stages(plan: Plan) -> int:
    degree = plan.letters.get(p) if plan.schedule else sympy.Integer(1)
    if degree is None or not degree.is_Integer:
        raise InputError("pp has no number: give pp=...")
    return int(degree)


def _within(one: Shares, other: Shares) -> bool:
    """Whether a stage runs nothing that another does not run as often and hold as much of."""
    held = {share.part: share for share in other.items}
    return all(
        share.part in held
        and _at_most(share.number, held[share.part].number)
        and _at_most(share.number * share.held, held[share.part].number * held[share.part].held)
        for share in one.items
    )


def _at_most(one: sympy.Expr, other: sympy.Expr) -> bool:
    return bool((other - one).is_nonnegative)
