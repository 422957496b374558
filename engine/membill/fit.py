"""Which plans fit: every way to divide a number of devices, searched for what costs least."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count, product, takewhile
from math import prod
from typing import Any

from membill import registry
from membill.asked import asked
from membill.bill import bill
from membill.divisions import DATA, PIPELINE, Degrees, divisions
from membill.errors import InputError
from membill.growth import checked
from membill.mesh import Axis
from membill.models import Model
from membill.needs import budget, check, numbered
from membill.offers import PIPELINED, Candidate, Offer, Settings, Trials
from membill.pipeline import Schedule
from membill.plans import LETTERS, Plan
from membill.recipe import Partition
from membill.recompute import Policy, applicable

LIMIT = 10
MOST_GPUS = 2**14
"""No more devices than these are tried for the fewest that do."""

Track = Callable[[Sequence[Candidate]], Iterable[Candidate]]


@dataclass(frozen=True)
class Found:
    """Offers that fit; and, of the plans tried that do not fit, the one that misses by least."""

    offers: tuple[Offer, ...]
    nearest: Offer | None


def fit(model: Model, *, gpus: int, memory: int, **asked_for: Any) -> tuple[Offer, ...]:
    """The plans under which a model fits into `memory` bytes of each of so many devices.

    What must fit is what a device holds at the fullest moment of a step. Cheapest recomputation
    first, then least model parallelism. Arguments and errors as in `search`, whose `nearest` says
    by how much every plan misses if none is offered.
    """
    return search(model, gpus=gpus, memory=memory, **asked_for).offers


def search(
    model: Model,
    *,
    gpus: int,
    memory: int,
    b: int | None = 1,
    global_batch_tokens: int | None = None,
    margin: object = None,
    limit: int | None = LIMIT,
    track: Track = iter,
    **settings: Any,
) -> Found:
    """Try every division of the devices, until `limit` offers are found or all are tried.

    settings: as in `Model.bill` (T=8192, recipe="..."); what is among them is not searched for:
    with tp=8 no other degree is tried. b: sequences in a micro-batch; None for as many as fit.
    global_batch_tokens: tokens in a step, from which follows how many micro-batches there are;
    without it there are as many as stages, unless told. track: what candidates are passed
    through, such as a progress bar.
    A division has one offer at most: with the recomputation that costs least, then the smallest
    stage of each partitioning, then the fewest switches on; its schedule is the one without chunks
    that holds least, unless told. Raises InputError for what is not allowed, and if no division
    is possible.
    """
    checked(gpus=gpus, **({} if limit is None else {"limit": limit}))
    _check_pipeline(settings)
    tokens = global_batch_tokens
    if tokens is not None:
        checked(global_batch_tokens=tokens)
        if "micro_batches" in settings:
            raise InputError("global_batch_tokens says how many micro_batches there are: give one")
    given = {**settings, "b": 1 if b is None else b}
    unpiped = {name: value for name, value in given.items() if name not in PIPELINED}
    run, how = asked(model, margin=margin, **{DATA: gpus, **unpiped})
    budget(memory, how.margin)
    check(model, run, how)
    trials = Trials(model, numbered(model, how.values), how, given, memory, tokens, b is None)
    ways = divisions(model, run, gpus, how.values, _degrees(given))
    prices = _prices(trials.here, run, given)
    candidates = [Candidate(way, *item) for way, item in product(ways, prices.items())]
    ordered = sorted(candidates, key=lambda candidate: candidate.rank)
    return _found(trials, track(ordered), limit)


def _check_pipeline(settings: Settings) -> None:
    """InputError for settings of a pipeline under which no division could have one."""
    checked(**{name: settings[name] for name in LETTERS if name in settings})
    name, chunks = settings.get("schedule"), settings.get("chunks", 1)
    if name is None and chunks > 1:
        raise InputError(f"chunks = {chunks} says nothing without a schedule: give schedule=...")
    if name is not None and registry.find(Schedule, name).chunked != (chunks > 1):
        ways = "two chunks or more" if chunks == 1 else "no model chunks"
        raise InputError(f"chunks = {chunks}: schedule {name!r} has {ways}")


def _degrees(given: Settings) -> Degrees:
    names = (*registry.everything(Axis), DATA, PIPELINE)
    return checked(**{name: given[name] for name in names if name in given})


def _prices(here: Model, run: Plan, given: Settings) -> Mapping[Policy, Fraction]:
    """FLOPs that each policy runs again, as a share of those of a step.

    Of all policies that a layer of the model can follow, or of the one that was asked for.
    """
    policies: Iterable[Policy] = registry.known().policies.values()
    if "recompute" in given:
        policies = (registry.policy(given["recompute"]),)
    graphs = [part.layer.graph() for group in here.groups for part in group]
    fitting = [each for each in policies if any(applicable([each], graph) for graph in graphs)]
    costs = {each: here.price(replace(run, recompute=each)) for each in fitting}
    return {each: Fraction(cost.rerun(), cost.step()) for each, cost in costs.items()}


def _found(trials: Trials, candidates: Iterable[Candidate], limit: int | None) -> Found:
    offers: dict[tuple[int, ...], Offer] = {}
    missing: list[Offer] = []
    fault: InputError | None = None
    for candidate in candidates:
        if len(offers) == limit:
            break
        way = tuple(candidate.degrees.values())
        if way in offers:
            continue
        try:
            offer = trials.best(candidate)
        except InputError as error:
            fault = error
            continue
        if offer.spare >= 0:
            offers[way] = offer
        else:
            missing.append(offer)
    if fault and not offers and not missing:
        raise fault
    return Found(tuple(offers.values()), max(missing, key=lambda each: each.spare, default=None))


def fewest(model: Model, *, memory: int, **settings: Any) -> Offer | None:
    """The first offer for the fewest devices for which there is one; None if there is none.

    Arguments and errors as in `search`. Fewer devices than all states fill are not tried, since
    any plan keeps these somewhere. What fits on some devices fits on twice as many: that none is
    enough is taken to be so once MOST_GPUS are too few.
    """
    step = prod(_degrees(settings).values())
    first = -(-_fewest_for_states(model, memory, settings) // step) * step

    def offer(gpus: int) -> Offer | None:
        offers = search(model, gpus=gpus, memory=memory, **{**settings, "limit": 1}).offers
        return offers[0] if offers else None

    doubled = takewhile(lambda gpus: gpus <= MOST_GPUS, (first * 2**k for k in count()))
    enough = next(filter(None, map(offer, doubled)), None)
    if enough is None:
        return None
    fewer = map(offer, range(first, enough.gpus, step))
    return next(filter(None, fewer), enough)


def _fewest_for_states(model: Model, memory: int, settings: Settings) -> int:
    """Devices that all states fill, undivided; as each update begins, all are there at once."""
    of_search = ("global_batch_tokens", "limit", "track")
    divided = (*registry.everything(Axis), *registry.everything(Partition), DATA, *PIPELINED)
    kept = {name: v for name, v in settings.items() if name not in {*of_search, *divided, "b"}}
    whole = bill(model, **kept)
    held = (entry for entry in whole.entries if not (entry.part or entry.moved))
    states = sum(whole.size(entry.bytes) for entry in held)
    return max(-(-states // budget(memory, whole.margin)), 1)
