"""One division of a number of devices: the plans that it leaves open, tried until one fits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from membill import registry
from membill.asked import Count, split, with_recipe
from membill.bill import Bill, bill
from membill.bounds import largest
from membill.divisions import DATA, PIPELINE, Degrees, leanest_schedule, replicas
from membill.errors import InputError
from membill.growth import accumulation_steps
from membill.models import Model
from membill.needs import budget, most, numbered, with_margin
from membill.plans import LETTERS, Plan
from membill.plans import plan as make_plan
from membill.recipe import Partition
from membill.recompute import Policy
from membill.symbols import b as sequences

PIPELINED = ("schedule", *LETTERS)

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Offer:
    """A plan for so many devices, and what its fullest device needs.

    settings: of the plan and letters, by name, as `Model.bill` takes them. degrees: into what the
    devices are divided, by name. bytes: at the fullest moment of a step, with the margin, if one
    was asked for. at: that moment in words. spare: bytes of the memory that are left; below 0 if
    it does not fit. price: FLOPs that are run again, as a share of those of a step without. steps:
    micro-batches that each replica runs for the global batch; None if none was given.
    """

    model: Model
    settings: Settings
    degrees: Degrees
    bytes: int
    at: str
    spare: int
    price: Fraction
    steps: int | None = None

    @property
    def gpus(self) -> int:
        """How many devices it is for."""
        return prod(self.degrees.values())

    @property
    def plan(self) -> Plan:
        """The plan."""
        return with_recipe(make_plan(**split(self.settings)[1]))

    @property
    def policy(self) -> str:
        """What is recomputed: a policy's name, or scopes."""
        given = self.settings["recompute"]
        return given if isinstance(given, str) else ",".join(given)

    @property
    def bill(self) -> Bill:
        """The bill of its fullest device, without the margin."""
        return bill(self.model, **self.settings)


@dataclass(frozen=True)
class Candidate:
    """A division of the devices with a policy of recomputation, and what that costs."""

    degrees: Degrees
    policy: Policy
    price: Fraction

    @property
    def rank(self) -> tuple[Any, ...]:
        """Cheapest first, then of least model parallelism, then of fewest kinds of it."""
        own = [degree for name, degree in self.degrees.items() if name != DATA]
        kinds = sum(degree > 1 for degree in own)
        return self.price, prod(own), kinds, [-degree for degree in own]


@dataclass(frozen=True)
class Trials:
    """What all trials of a search have in common.

    here: the model with numbers put in. given: what was asked for, by name. tokens: of a step.
    grow: whether micro-batches are to be as large as fit.
    """

    model: Model
    here: Model
    how: Count
    given: Settings
    memory: int
    tokens: int | None
    grow: bool

    def best(self, candidate: Candidate) -> Offer:
        """The first offer that fits, from the least thrifty on; the thriftiest if none does.

        Raises InputError for a division under which something cannot be divided.
        """
        choices = self._choices(candidate)
        thriftiest = next(self._possible(candidate, reversed(choices)), None)
        if thriftiest is None:
            return self._offer(candidate, choices[0])  # says what is wrong
        if thriftiest[1].spare < 0:
            return thriftiest[1]
        fitting = (item for item in self._possible(candidate, choices) if item[1].spare >= 0)
        chosen, found = next(fitting, thriftiest)
        return self._grown(candidate, chosen, found) if self.grow else found

    def _choices(self, candidate: Candidate) -> list[Settings]:
        """Every choice of stages of partitionings and of switches, the thriftiest last."""
        free: dict[str, Sequence[Any]] = {}
        if candidate.degrees[DATA] > 1:
            stages = registry.everything(Partition).items()
            free |= {name: sorted(each.stages) for name, each in stages if name not in self.given}
        for rule in registry.known().rules:
            if candidate.degrees.get(rule.axis, 1) > 1 and rule.switch not in {"", *self.given}:
                free[rule.switch] = (False, True)
        return [dict(zip(free, chosen, strict=True)) for chosen in product(*free.values())]

    def _possible(
        self, candidate: Candidate, choices: Iterable[Settings]
    ) -> Iterator[tuple[Settings, Offer]]:
        """The choices under which all that has to be divided can be, with what each needs."""
        for chosen in choices:
            with suppress(InputError):
                yield chosen, self._offer(candidate, chosen)

    def _offer(self, candidate: Candidate, chosen: Settings) -> Offer:
        """What one plan needs; InputError if something cannot be divided under it."""
        steps = self._steps(candidate)
        settings = {**self._settings(candidate, steps), **chosen}
        plan = with_recipe(make_plan(**split(settings)[1]))
        need = most(self.here, plan, self.how)
        size = with_margin(need.bytes, self.how.margin)
        price, spare = candidate.price, self.memory - size
        return Offer(self.model, settings, candidate.degrees, size, need.at, spare, price, steps)

    def _settings(self, candidate: Candidate, steps: int | None) -> dict[str, Any]:
        """The plan by name; a pipeline of one stage is none."""
        stages = candidate.degrees[PIPELINE]
        own = {name: value for name, value in self.given.items() if name not in PIPELINED}
        told = {name: n for name, n in candidate.degrees.items() if n > 1 or name == DATA}
        settings = {**own, **told, "recompute": self.given.get("recompute", candidate.policy.name)}
        if stages == 1:
            return settings
        pipeline = {name: self.given[name] for name in PIPELINED if name in self.given}
        number = pipeline.get("micro_batches", steps or stages)
        schedule = pipeline.get("schedule") or leanest_schedule(stages, number)
        return {**settings, **pipeline, "schedule": schedule, "micro_batches": number}

    def _steps(self, candidate: Candidate) -> int | None:
        if self.tokens is None:
            return None
        among = replicas(candidate.degrees)
        values = self.how.values
        return accumulation_steps(self.tokens, b=values["b"], T=values["T"], replicas=among)

    def _grown(self, candidate: Candidate, chosen: Settings, offer: Offer) -> Offer:
        """The same plan with the largest micro-batch that fits and that the global batch fills."""
        room = budget(self.memory, self.how.margin)
        b = largest(self.model, offer.plan, self.how, sequences, room).value
        if self.tokens is not None:
            all_at_once = self.tokens // (self.how.values["T"] * replicas(candidate.degrees))
            b = max(min(b, all_at_once), 1)
        how = replace(self.how, values={**self.how.values, "b": b})
        here = numbered(self.model, how.values)
        larger = replace(self, here=here, how=how, given={**self.given, "b": b})
        return larger._offer(candidate, chosen)
