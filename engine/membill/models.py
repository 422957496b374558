"""A model: an architecture with options chosen and, if it is a known model, its dimensions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import sympy

from membill import tuning
from membill.architecture import Architecture
from membill.errors import InputError, unknown
from membill.formula import Formula, counted
from membill.layers import Layer, OptionValue, Price
from membill.ledger import Row, total
from membill.limits import check
from membill.parts import LAYERS, Part, defined, fitting, trains, varied
from membill.plans import Plan
from membill.plans import plan as make_plan
from membill.shapes import Shape
from membill.symbols import T, b

if TYPE_CHECKING:
    from membill.bill import Bill
    from membill.cache import CacheBill
    from membill.offers import Offer
    from membill.peak import Peak
    from membill.solve import Solution

TIED = "tied"


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """An architecture with its options chosen.

    groups: the layers that follow one another in each pattern. shape: dimensions, if known.
    tied: whether the head's weight is the embedding's.
    """

    architecture: Architecture
    start: Part
    groups: tuple[tuple[Part, ...], ...]
    end: Part
    shape: Shape | None = None

    def __repr__(self) -> str:
        return f"<model {self.name}>"

    @property
    def name(self) -> str:
        """The name that it was asked for by."""
        return self.shape.name if self.shape else self.architecture.name

    @property
    def title(self) -> str:
        """For people."""
        return self.shape.title if self.shape else self.architecture.title

    @property
    def tied(self) -> bool:
        """Whether the head's weight is the embedding's."""
        return bool(self.end.dropped)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The embedding, every kind of layer, the head, in order."""
        return (self.start, *(part for group in self.groups for part in group), self.end)

    @property
    def layers(self) -> sympy.Expr:
        """How many layers there are."""
        return sympy.Add(*(part.times for group in self.groups for part in group))

    @property
    def options(self) -> Mapping[str, OptionValue]:
        """The options of all parts with what is chosen for each; `tied` where it can be."""
        found: dict[str, OptionValue] = {TIED: self.tied} if self.architecture.tied else {}
        for part in self.parts:
            found.update(part.layer.chosen)
        return {name: value for name, value in found.items() if name not in self.architecture.fixed}

    def variant(self, **options: OptionValue) -> Model:
        """The model with other values for some options, in every part that has them.

        Raises InputError for an option that no part has, or a value that it does not know.
        """
        made = self
        for name, value in options.items():
            if name == TIED and self.architecture.tied:
                made = made._tie(value)
            elif name not in self.options:
                raise unknown("option", name, self.options, f"of model {self.name!r}")
            else:
                made = made.each(partial(varied, name=name, value=value))
        return made

    def _tie(self, value: OptionValue) -> Model:
        if not isinstance(value, bool):
            raise InputError(f"{TIED} = {value!r} of model {self.name!r}: give True or False")
        labels = frozenset({self.architecture.tied}) if value else frozenset[str]()
        return replace(self, end=replace(self.end, dropped=labels))

    def each(self, change: Callable[[Part], Part]) -> Model:
        """The model with every part changed."""
        groups = tuple(tuple(map(change, group)) for group in self.groups)
        return replace(self, start=change(self.start), groups=groups, end=change(self.end))

    def adapt(self, name: str, on: Collection[str]) -> Model:
        """The model with an adapter in its layers, all else frozen if that trains weights.

        Arguments and errors as in `Layer.adapt`. The first layer's input is taken to need a
        gradient, as it must where layers are recomputed.
        """
        return tuning.adapt(self, name, on)

    def freeze(self, *scopes: str) -> Model:
        """The model with the weights within these scopes or ops taking no gradient.

        Raises InputError for a scope that holds no weight in any part.
        """
        return tuning.freeze(self, *scopes)

    def with_layer(self, layer: Layer) -> Model:
        """The model with all of its layers replaced by as many of another."""
        groups = ((Part(LAYERS, layer, self.layers),),)
        model = replace(self, groups=groups)
        return model.each(lambda part: defined(part, groups, self.shape))

    def values(self, **given: Any) -> dict[str, int]:
        """The model's dimensions and what is given, as ints.

        A dimension that layers derive from one that is given is left out. Raises InputError for
        what is no count, and for what goes beyond the model's positions or leaves a group of heads
        uneven.
        """
        own = {name: counted(name, value) for name, value in given.items()}
        defined = (each for part in self.parts for each in part.layer.definitions)
        derived = {
            symbol.name
            for symbol, value in defined
            if own.keys() & {free.name for free in value.free_symbols}
        }
        kept = {name: size for name, size in (self.shape or {}).items() if name not in derived}
        every = {**kept, **own}
        check(every, self.name)
        return every

    def resized(self, **sizes: int) -> Model:
        """The model at other dimensions; those that are not among the sizes are left open.

        What its layers put in for a dimension, such as d_k = d/h, they still do where the sizes
        agree with it. A model without dimensions stays as it is.
        """
        put_in = {symbol.name for part in self.parts for symbol, _ in part.layer.definitions}
        dims = {name: sizes[name] for name in (self.shape or {}) if name in sizes}
        dims |= {name: sizes[name] for name in put_in - dims.keys() if name in sizes}
        if self.shape is None or not dims or dims == dict(self.shape):
            return self
        shape = replace(self.shape, dims=dims)
        model = replace(self, shape=shape)
        return model.each(lambda part: defined(part, self.groups, shape))

    def weights(
        self, plan: Plan | None = None, *, specialise: bool = True
    ) -> Iterator[tuple[Part, Row]]:
        """Every parameter tensor that a device holds of one of each part."""
        run = make_plan(plan)
        for part in self.parts:
            for row in part.ledger(run, specialise=specialise).weights:
                yield part, row

    def parameters(
        self, plan: Plan | None = None, *, specialise: bool = True, **settings: Any
    ) -> Formula:
        """How many parameters there are, tied ones once; on one device, if a mesh divides them."""
        run = make_plan(plan, **settings)
        return _sum(
            ((part, part.ledger(run, specialise=specialise).parameters()) for part in self.parts),
            "parameters",
        )

    def trainable_parameters(
        self, plan: Plan | None = None, *, specialise: bool = True, **settings: Any
    ) -> Formula:
        """How many of these take a gradient."""
        rows = self.weights(make_plan(plan, **settings), specialise=specialise)
        trained = ((part, row.entries) for part, row in rows if trains(part, row))
        return _sum(trained, "parameters")

    def activations(
        self,
        plan: Plan | None = None,
        *,
        specialise: bool = True,
        statistics: bool = True,
        **settings: Any,
    ) -> Formula:
        """Bytes kept for backward of one micro-batch, from the batch to the loss, all layers.

        Arguments as in `Layer.ledger`; what comes once is not recomputed.
        """
        run = make_plan(plan, **settings)
        counting = {"specialise": specialise, "statistics": statistics}
        kept = total(self.tables(run, specialise=specialise))
        return kept + _sum(
            ((part, part.ledger(run, **counting).total()) for part in self.parts), "bytes"
        )

    def tables(self, plan: Plan | None = None, *, specialise: bool = True) -> Iterator[Formula]:
        """Bytes of each table that layers share, such as position encodings: once for the model."""
        run, seen = make_plan(plan), set[object]()
        for part in self.parts:
            for row in part.ledger(run, specialise=specialise).tables:
                if (row.tensor, row.shape) not in seen:
                    seen.add((row.tensor, row.shape))
                    yield row.bytes

    def bill(self, plan: Plan | None = None, **settings: Any) -> Bill:
        """What one device holds of the model; arguments and errors as in `membill.bill.bill`."""
        from membill.bill import bill  # it needs this module whole

        return bill(self, plan, **settings)

    def stages(self, plan: Plan | None = None, **settings: Any) -> tuple[Bill, ...]:
        """The bill of every stage of a pipeline; arguments and errors as in `bill.stages`."""
        from membill.bill import stages  # it needs this module whole

        return stages(self, plan, **settings)

    def peak(self, plan: Plan | None = None, **settings: Any) -> Peak:
        """The peak of a training step; arguments and errors as in `membill.peak.peak`."""
        from membill.peak import peak  # it needs this module whole

        return peak(self, plan, **settings)

    def cache(self, plan: Plan | None = None, **settings: Any) -> CacheBill:
        """What one device caches of it; arguments and errors as in `membill.cache.cache`."""
        from membill.cache import cache  # it needs this module whole

        return cache(self, plan, **settings)

    def sequences_that_fit(self, memory: int, *, weights: str = "bfloat16", **settings: Any) -> int:
        """How many sequences fit into `memory` bytes of each device beside the weights.

        weights: the name of their format. settings: as in `cache`; errors as in
        `membill.serving.served`.
        """
        from membill.serving import served  # it needs this module whole

        return served(self.cache(**settings), memory, weights).sequences

    def solve(self, name: str, *, memory: int, **settings: Any) -> Solution:
        """The most or least of `name` that fits; arguments and errors as in `solve.solve`."""
        from membill.solve import solve  # it needs this module whole

        return solve(self, name, memory=memory, **settings)

    def fit(self, *, gpus: int, memory: int, **settings: Any) -> tuple[Offer, ...]:
        """The plans that fit on so many devices; arguments and errors as in `fit.search`."""
        from membill.fit import fit  # it needs this module whole

        return fit(self, gpus=gpus, memory=memory, **settings)

    def flops(self) -> Formula:
        """Floating-point operations of all matrix products in one forward pass."""
        return _sum(((part, part.layer.flops()) for part in self.parts), "FLOPs")

    def price(self, plan: Plan | None = None, **settings: Any) -> Price:
        """What recomputation costs: FLOPs run again in all layers, beside those of a whole step."""
        run = make_plan(plan, **settings)
        prices = [(part, part.layer.price(fitting(run, part))) for part in self.parts]
        again = _sum(((part, price.rerun) for part, price in prices), "FLOPs")
        return Price(again, _sum(((part, price.step) for part, price in prices), "FLOPs"))

    def flops_per_token(self) -> Formula:
        """The same for one token of a sequence of T."""
        flops = self.flops()
        return replace(flops, expr=sympy.expand(flops.expr / (b * T)))


def _sum(sizes: Iterable[tuple[Part, Formula]], unit: str) -> Formula:
    """The sum over parts, each as often as it comes."""
    return total((size * part.times for part, size in sizes), unit)
