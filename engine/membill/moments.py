"""The moments of one part that can be a step's fullest, as formulas in bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, repeat

import sympy

from membill.alive import Storages, readable, running
from membill.backward import Moment, backward, kept_of
from membill.formula import Formula
from membill.layers import Layer
from membill.ledger import Kept, price, total
from membill.parts import END, Part, Settings, fitting, settings_of
from membill.plans import Plan
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
class Simulated:
    """What happens in a part, before any number is put on it."""

    backward: tuple[Moment, ...]
    forward: tuple[Moment, ...]
    kept: frozenset[Tensor]


def priced(
    part: Part,
    plan: Plan,
    *,
    first: bool = False,
    in_place: bool = True,
    added: bool = False,
    specialise: bool = True,
) -> Priced:
    """The moments of one of a part under a plan, and what it keeps.

    first, in_place: as in `membill.backward.backward`. added: whether gradients of weights are
    added to ones that are there, so that a moment has those alone that its op made. specialise:
    as in `Layer.ledger`.
    """
    how = (first, in_place, added, specialise)
    return _priced(part.layer, part.where == END, settings_of(fitting(plan, part)), *how)


@lru_cache(maxsize=1024)
def _priced(layer: Layer, end: bool, settings: Settings, *how: bool) -> Priced:
    """The same; a search for plans asks for few of them often."""
    run, (first, in_place, added, specialise) = settings.plan, how
    graph = layer.graph(run.dtype_bytes, run.precision)
    found = _simulated(
        layer,
        run.dtype_bytes == 4,
        run.precision,
        run.recompute,
        first=first,
        last=end,
        in_place=in_place,
    )
    moments = (*found.backward, *found.forward)
    results = {graph.output.storage, *(each.storage for each in graph.held)}
    batch = [each for each in results if each.role is Role.INDEX]
    mine = [*found.kept, *results, *graph.weights]
    sizes = _sizes(moments, mine, layer if specialise else None, run)

    def size(tensors: Iterable[Tensor]) -> Formula:
        return total(sizes[each.shape, each.dtype] for each in tensors)

    latest = found.backward[-1].made if found.backward else Storages()
    return Priced(
        size(found.kept),
        _formula(latest, sizes),
        tuple(_fullest(each, sizes) for each in _undominated(found.backward, sizes, added)),
        tuple(_fullest(each, sizes) for each in _undominated(found.forward, sizes, added)),
        size(results.difference(batch, () if end else {graph.output.storage})),
        size(batch),
        size([graph.output]),
    )


@lru_cache(maxsize=512)
def _simulated(
    layer: Layer,
    in_float32: bool,
    precision: Precision | None,
    policy: Policy,
    *,
    first: bool,
    last: bool,
    in_place: bool,
) -> Simulated:
    graph = layer.graph(4 if in_float32 else 2, precision)
    kept = kept_of(graph, policy, layer.trainable)
    moments = backward(graph, policy, layer.trainable, first=first, last=last, in_place=in_place)
    inputs = readable(graph, graph.inputs)
    apart = {each.storage for each in (*graph.held, *((graph.output,) if last else ()))}
    passes = running(graph.ops, kept, inputs, apart)
    forward = (Moment(op.path, stays, passing) for op, stays, passing in passes)
    return Simulated(tuple(moments), tuple(forward), kept)


def _sizes(
    moments: Sequence[Moment], tensors: Iterable[Tensor], layer: Layer | None, plan: Plan
) -> Mapping[object, Formula]:
    """Bytes of a storage of each shape and dtype that there is."""
    accounts = ((each.kept, each.working, each.made) for each in moments)
    keys = dict.fromkeys(key for each in accounts for account in each for key in account)
    keys.update(dict.fromkeys((tensor.shape, tensor.dtype) for tensor in tensors))
    like = [Kept(Tensor(shape, dtype, path=""), "", ()) for shape, dtype in keys]
    definitions = layer.definitions if layer else ()
    rows = price(like, (), {beta: plan.dtype_bytes}, definitions, plan.mesh).entries
    return dict(zip(keys, (row.bytes for row in rows), strict=True))


def _fullest(moment: Moment, sizes: Mapping[object, Formula]) -> Fullest:
    accounts = (moment.kept, moment.working, moment.made, moment.latest)
    return Fullest(moment.path, moment.again, *(_formula(each, sizes) for each in accounts))


def _formula(storages: Storages, sizes: Mapping[object, Formula]) -> Formula:
    return total(chain.from_iterable(repeat(sizes[key], n) for key, n in storages.items()))


def _undominated(
    moments: Sequence[Moment], sizes: Mapping[object, Formula], added: bool
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


def _amounts(accounts: Iterable[Storages], terms: Mapping[object, Amounts]) -> Amounts:
    found: dict[sympy.Expr, sympy.Rational] = {}
    for account in accounts:
        for key, number in account.items():
            for monomial, coefficient in terms[key].items():
                found[monomial] = found.get(monomial, 0) + number * coefficient
    return found


def _covers(more: Amounts, less: Amounts) -> bool:
    """Whether no coefficient of the one exceeds that of the other."""
    return all(more.get(monomial, 0) >= number for monomial, number in less.items())


__all__ = ["Fullest", "Priced", "priced"]
