"""The moments of one part that can be a step's fullest, as formulas in bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, repeat

import sympy

from membill.alive import Key, Storages, readable, running, storages
from membill.backward import Moment, kept_of
from membill.backward import backward as run_backward
from membill.formula import Definition, Formula
from membill.layers import Layer
from membill.ledger import Kept, price, total
from membill.parts import END, Part, fitting
from membill.plans import Plan, Settings, settings_of
from membill.precision import Precision
from membill.recompute import Policy
from membill.symbols import beta
from membill.tensor import Role, Tensor

Amounts = Mapping[sympy.Expr, sympy.Rational]
"""Coefficients by monomial, all of whose letters are positive."""


@dataclass(frozen=True)
class Fullest:
    """A moment of a part, in bytes.

    path: of the op that runs, or the region that is run again. kept: what is left of what it keeps
    for backward. working: gradients that are not weights', and what the op uses besides.
    made: gradients of weights so far; latest: those that this op made.
    """

    path: str
    again: bool
    kept: Formula
    working: Formula
    made: Formula
    latest: Formula


@dataclass(frozen=True)
class Priced:
    """What a part does to the memory of a step, in bytes.

    kept: for backward, of one micro-batch, without what is held. gradients: of all its weights.
    moments: those that can be the fullest, in order; passing: the same of its forward pass.
    held: what is held of it until the step ends; batch: of the batch. output: its output.
    """

    kept: Formula
    gradients: Formula
    moments: tuple[Fullest, ...]
    passing: tuple[Fullest, ...]
    held: Formula
    batch: Formula
    output: Formula


@dataclass(frozen=True)
class Way:
    """How a part is run and priced, whatever the plan.

    first: whether no part that runs backward later reads the tables of this one, so that it frees
    them. in_place: as in `membill.backward.backward`. added: whether gradients of weights are
    added to ones that are there, so that a moment has those alone that its op made. specialise:
    as in `Layer.ledger`.
    """

    first: bool = False
    in_place: bool = True
    added: bool = False
    specialise: bool = True


@dataclass(frozen=True, eq=False)
class Simulated:
    """What happens in a part, before any number is put on it.

    kept, held, batch, output: as in `Priced`. made: gradients of all its weights.
    """

    backward: tuple[Moment, ...]
    forward: tuple[Moment, ...]
    kept: Storages
    made: Storages
    held: Storages
    batch: Storages
    output: Storages


def simulated(part: Part, plan: Plan, *, in_place: bool = True) -> Simulated:
    """What happens in one of a part under a plan; in_place as in `Way`."""
    return _run(part.layer, part.where == END, fitting(plan, part), in_place)


def priced(part: Part, plan: Plan, way: Way) -> Priced:
    """The moments of one of a part under a plan, and what it keeps."""
    return _priced(part.layer, part.where == END, settings_of(fitting(plan, part)), way)


@lru_cache(maxsize=1024)
def _priced(layer: Layer, end: bool, settings: Settings, way: Way) -> Priced:
    """The same; a search for plans asks for few of them often."""
    run = settings.plan
    found = _run(layer, end, run, way.in_place)
    backward = tuple(map(_with_tables, found.backward)) if way.first else found.backward
    moments = (*backward, *found.forward)
    accounts = (account for each in moments for account in (each.kept, each.working, each.made))
    others = (found.kept, found.made, found.held, found.batch, found.output)
    keys = dict.fromkeys(key for account in (*accounts, *others) for key in account)
    sizes = sizes_of(keys, run, layer.definitions if way.specialise else ())
    return Priced(
        _formula(found.kept, sizes),
        _formula(found.made, sizes),
        tuple(_fullest(each, sizes) for each in _undominated(backward, sizes, way.added)),
        tuple(_fullest(each, sizes) for each in _undominated(found.forward, sizes, way.added)),
        _formula(found.held, sizes),
        _formula(found.batch, sizes),
        _formula(found.output, sizes),
    )


def _with_tables(moment: Moment) -> Moment:
    return replace(moment, kept=moment.kept + moment.tables)


def _run(layer: Layer, end: bool, plan: Plan, in_place: bool) -> Simulated:
    in_float32 = plan.dtype_bytes == 4
    how = {"last": end, "in_place": in_place}
    return _simulated(layer, in_float32, plan.precision, plan.recompute, **how)


@lru_cache(maxsize=1024)
def _simulated(
    layer: Layer,
    in_float32: bool,
    precision: Precision | None,
    policy: Policy,
    *,
    last: bool,
    in_place: bool,
) -> Simulated:
    graph = layer.graph(4 if in_float32 else 2, precision)
    kept = kept_of(graph, policy, layer.trainable)
    moments = run_backward(graph, policy, layer.trainable, last=last, in_place=in_place)
    inputs = readable(graph, graph.inputs)
    apart = {each.storage for each in (*graph.held, *((graph.output,) if last else ()))}
    passes = running(graph.ops, kept, inputs, apart)
    forward = (Moment(op.path, stays, passing) for op, stays, passing in passes)
    results = {graph.output.storage, *(each.storage for each in graph.held)}
    batch = {each for each in results if each.role is Role.INDEX}
    held = results.difference(batch, () if last else {graph.output.storage})
    found = tuple(moments)
    return Simulated(
        found,
        tuple(forward),
        storages(kept),
        found[-1].made if found else Storages(),
        storages(held),
        storages(batch),
        storages([graph.output]),
    )


def sizes_of(
    keys: Iterable[Key], plan: Plan, definitions: tuple[Definition, ...] = ()
) -> Mapping[Key, Formula]:
    """Bytes of a storage of each shape and dtype on a device, with `definitions` put in."""
    each = tuple(keys)
    like = [Kept(Tensor(key.shape, key.dtype, path=""), "", ()) for key in each]
    rows = price(like, (), {beta: plan.dtype_bytes}, definitions, plan.mesh).entries
    return dict(zip(each, (row.bytes for row in rows), strict=True))


def _fullest(moment: Moment, sizes: Mapping[Key, Formula]) -> Fullest:
    accounts = (moment.kept, moment.working, moment.made, moment.latest)
    return Fullest(moment.path, moment.again, *(_formula(each, sizes) for each in accounts))


def _formula(storages: Storages, sizes: Mapping[Key, Formula]) -> Formula:
    return total(chain.from_iterable(repeat(sizes[key], n) for key, n in storages.items()))


def _undominated(
    moments: Sequence[Moment], sizes: Mapping[Key, Formula], added: bool
) -> list[Moment]:
    """The moments that no other one exceeds whatever the letters stand for."""
    terms = {key: size.expr.as_coefficients_dict() for key, size in sizes.items()}
    best: list[tuple[Moment, Amounts]] = []
    for moment in moments:
        weights = moment.latest if added else moment.made
        amount = _amounts((moment.kept, moment.working, weights), terms)
        if not any(_covers(other, amount) for _, other in best):
            best = [each for each in best if not _covers(amount, each[1])]
            best.append((moment, amount))
    return [moment for moment, _ in best]


def _amounts(accounts: Iterable[Storages], terms: Mapping[Key, Amounts]) -> Amounts:
    found: dict[sympy.Expr, sympy.Rational] = {}
    for account in accounts:
        for key, number in account.items():
            for monomial, coefficient in terms[key].items():
                found[monomial] = found.get(monomial, 0) + number * coefficient
    return found


def _covers(more: Amounts, less: Amounts) -> bool:
    """Whether no coefficient of the one exceeds that of the other."""
    return all(more.get(monomial, 0) >= number for monomial, number in less.items())


__all__ = ["Fullest", "Priced", "Simulated", "Way", "priced", "simulated", "sizes_of"]
