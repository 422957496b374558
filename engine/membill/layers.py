"""A layer: a plain function over symbolic tensors, with what can be derived from it."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import sympy

from membill import registry
from membill.adapter import Adapted, Adapter
from membill.dtypes import COMPUTE, FLOAT32
from membill.errors import InputError, unknown
from membill.formula import Definition, Formula
from membill.garbage import uncollected
from membill.graph import Graph, live_tensors
from membill.ledger import Ledger, Row, price, total
from membill.paths import upto, within
from membill.plans import Plan, Settings, settings_of
from membill.plans import plan as make_plan
from membill.precision import Precision
from membill.rebuild import outcome
from membill.symbols import beta
from membill.tensor import Role, Tensor
from membill.tracing import trace

OptionValue = str | bool


@dataclass(frozen=True)
class Option:
    """A keyword argument of a layer's function: its default, and what each value stands for."""

    name: str
    default: OptionValue
    choices: Mapping[Any, object]

    @property
    def values(self) -> tuple[OptionValue, ...]:
        """Every value that it may take."""
        return tuple(self.choices)


@dataclass(frozen=True)
class Derivation:
    """How the closed form comes about, as data.

    rows: what is kept, in general symbols. scopes: its sum by scope. total: the sum of all.
    definitions: what the layer puts in for symbols. result: the total with that put in.
    headline: the result without per-token statistics, the form in which papers print it.
    """

    rows: tuple[Row, ...]
    scopes: tuple[tuple[str, Formula], ...]
    total: Formula
    definitions: tuple[Definition, ...]
    result: Formula
    headline: Formula


@dataclass(frozen=True)
class Price:
    """FLOPs that are run again in backward, and FLOPs of forward and backward without that."""

    rerun: Formula
    step: Formula

    @property
    def ratio(self) -> sympy.Expr:
        """The one over the other, in lowest terms."""
        return sympy.cancel(self.rerun.expr / self.step.expr)


@dataclass(frozen=True, eq=False, repr=False)
class Layer:
    """A layer's spec with a value for each of its options."""

    name: str
    title: str
    source: str
    function: Callable[..., Any]
    definitions: tuple[Definition, ...]
    inputs: Mapping[str, tuple[object, ...]]
    options: tuple[Option, ...]
    chosen: Mapping[str, OptionValue] = field(default_factory=dict)
    adapted: Adapted | None = None
    frozen: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<layer {self.name}>"

    @functools.cached_property
    def _identity(self) -> tuple[object, ...]:
        """What its graph depends on, so that equal layers of different models are traced once."""
        inputs, chosen = tuple(self.inputs.items()), tuple(self.chosen.items())
        return (
            self.function,
            self.name,
            inputs,
            chosen,
            self.definitions,
            self.adapted,
            self.frozen,
        )

    @functools.cached_property
    def _hash(self) -> int:
        return hash(self._identity)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Layer) and self._identity == other._identity)

    def __hash__(self) -> int:
        return self._hash

    @property
    def summary(self) -> str:
        """The docstring of the spec."""
        return inspect.getdoc(self.function) or ""

    @property
    def keywords(self) -> dict[str, Any]:
        """What its function is given for each option: a flag, or what a name stands for."""
        return {option.name: option.choices[self.chosen[option.name]] for option in self.options}

    def run(self, *inputs: Tensor) -> Tensor:
        """Its function with these options on symbolic tensors, inside a trace."""
        output: Tensor = self.function(*inputs, **self.keywords)
        return output

    def variant(self, **options: OptionValue) -> Layer:
        """The same layer with other values for some options.

        Raises InputError for an option that the spec lacks or a value that it does not know.
        """
        known = {option.name: option for option in self.options}
        for name, value in options.items():
            if name not in known:
                raise unknown("option", name, known, f"of layer {self.name!r}")
            allowed = known[name].values
            if not any(type(value) is type(item) and value == item for item in allowed):
                raise unknown(name, value, map(str, allowed), f"of layer {self.name!r}")
        return replace(self, chosen={**self.chosen, **options})

    def variants(self) -> tuple[Layer, ...]:
        """Every combination of option values, this layer's own first."""
        current = [(self.chosen[o.name], *o.values) for o in self.options]
        combined = itertools.product(*(dict.fromkeys(values) for values in current))
        names = [option.name for option in self.options]
        return tuple(self.variant(**dict(zip(names, values, strict=True))) for values in combined)

    def neighbours(self) -> tuple[Layer, ...]:
        """The variants that differ from this layer in one option."""
        return tuple(
            self.variant(**{option.name: value})
            for option in self.options
            for value in option.values
            if value != self.chosen[option.name]
        )

    def changed(self) -> Mapping[str, OptionValue]:
        """The options whose value is not the default."""
        return {
            o.name: self.chosen[o.name] for o in self.options if self.chosen[o.name] != o.default
        }

    def adapt(self, name: str, on: Collection[str]) -> Layer:
        """The layer with an adapter at scopes or ops, all else in it frozen if that trains weights.

        `layer("llama").adapt("lora", on=["q", "v"])`. Raises InputError for an unknown adapter
        or a place where no op is that it could adapt, for no place, and for a second adapter.
        """
        adapter = registry.find(Adapter, name)
        if isinstance(on, str) or not on:
            raise InputError(f"on = {on!r}: give a collection of scopes or ops to adapt")
        if self.adapted is not None:
            raise InputError(
                f"layer {self.name!r} has the adapter {self.adapted.adapter.name} already: "
                "name all places at once"
            )
        places = [op.path for op in self.graph().ops if op.kind == adapter.kind]
        for place in on:
            if not any(upto(path, place) for path in places):
                raise unknown(f"place for adapter {name}", place, places)
        return replace(self, adapted=Adapted(adapter, tuple(on)))

    def freeze(self, *scopes: str) -> Layer:
        """The layer with the weights within these scopes or ops taking no gradient.

        Raises InputError for a scope that holds no weight.
        """
        if not scopes:
            return self
        weights = [weight.label for weight in self.graph().weights]
        for scope in scopes:
            if not any(upto(weight, scope) for weight in weights):
                raise unknown("scope to freeze", scope, weights)
        return replace(self, frozen=(*self.frozen, *scopes))

    def trainable(self, tensor: Tensor) -> bool:
        """Whether an input or weight of the layer takes a gradient."""
        if tensor.role is not Role.WEIGHT:
            return True
        trains = self.adapted.adapter.trains if self.adapted else None
        if trains is not None and not within(tensor.path, trains):
            return False
        return not within(tensor.label, self.frozen)

    def graph(self, dtype_bytes: int | sympy.Expr = 2, precision: Precision | None = None) -> Graph:
        """The ops of the layer in order; SpecError with all problems if the spec is at fault.

        In float32 a cast to float32 makes no new tensor, so that case is traced as such.
        """
        return _trace(self, dtype_bytes == 4, precision)

    def ledger(
        self,
        plan: Plan | None = None,
        *,
        specialise: bool = True,
        statistics: bool = True,
        **settings: Any,
    ) -> Ledger:
        """Every storage that a device keeps of the layer, with who needs it and why.

        plan, settings: how the layer is run; settings by name (recompute="selective",
        dtype_bytes=4, tp=8, sp=True) come before the plan's. See `membill.plan`.
        specialise: put in what the layer defines, such as d_k = d/h.
        statistics: count the norms' per-token statistics and kernels' bookkeeping too.
        """
        found = _ledger(self, settings_of(make_plan(plan, **settings)), specialise)
        return found if statistics else found.without_statistics()

    def activations(
        self,
        plan: Plan | None = None,
        *,
        specialise: bool = True,
        statistics: bool = True,
        **settings: Any,
    ) -> Formula:
        """Bytes that a device keeps of the layer for backward; arguments as in `ledger`."""
        ledger = self.ledger(plan, specialise=specialise, statistics=statistics, **settings)
        return ledger.total()

    def parameters(
        self, plan: Plan | None = None, *, specialise: bool = True, **settings: Any
    ) -> Formula:
        """How many parameters of the layer a device holds: all, unless a mesh divides them."""
        return self.ledger(plan, specialise=specialise, **settings).parameters()

    def trainable_parameters(
        self, plan: Plan | None = None, *, specialise: bool = True, **settings: Any
    ) -> Formula:
        """How many of these take a gradient: what neither an adapter nor `freeze` froze."""
        trained = self.trainable_labels()
        weights = self.ledger(plan, specialise=specialise, **settings).weights
        return total((row.entries for row in weights if row.tensor in trained), "parameters")

    def trainable_labels(self) -> frozenset[str]:
        """The labels of the weights that take a gradient: some op declares one, none is frozen."""
        return self._trained

    @functools.cached_property
    def _trained(self) -> frozenset[str]:
        graph = self.graph()
        targets = {target for op in graph.ops for target in op.gradients}
        return frozenset(
            weight.label for weight in graph.weights if weight in targets and self.trainable(weight)
        )

    def flops(self) -> Formula:
        """Floating-point operations of the layer's matrix products in one forward pass."""
        return self.formula(sympy.Add(*(op.flops for op in self.graph().ops)), "FLOPs")

    def formula(self, expr: sympy.Expr, unit: str) -> Formula:
        """An expression over the layer's symbols, at two bytes an entry, with its definitions."""
        put = {beta: sympy.Integer(2), **dict(self.definitions)}
        return Formula(expr.subs(put), unit, self.definitions)

    def price(self, plan: Plan | None = None, **settings: Any) -> Price:
        """What recomputation costs: FLOPs run again, beside those of the whole step."""
        traced = self.graph()
        rerun = outcome(traced, make_plan(plan, **settings).recompute, self.trainable).rerun
        live = live_tensors(traced, self.trainable)
        backward = (
            need.flops
            for op in traced.ops
            for target, need in op.gradients.items()
            if target in live
        )
        again = sympy.Add(*(op.flops for op in rerun))
        step = sympy.Add(*(op.flops for op in traced.ops), *backward)
        return Price(self.formula(again, "FLOPs"), self.formula(step, "FLOPs"))

    def derivation(self, plan: Plan | None = None, **settings: Any) -> Derivation:
        """The steps from the rows to the closed form, as data."""
        general = self.ledger(plan, specialise=False, **settings)
        special = self.ledger(plan, **settings)
        return Derivation(
            rows=general.rows,
            scopes=general.by_scope(),
            total=general.total(),
            definitions=self.definitions,
            result=special.total(),
            headline=special.without_statistics().total(),
        )


@functools.lru_cache(maxsize=4096)
@uncollected()
def _ledger(layer: Layer, settings: Settings, specialise: bool) -> Ledger:
    """A bill asks for each several times, and a search for few of them often."""
    run = settings.plan
    traced = layer.graph(run.dtype_bytes, run.precision)
    return price(
        outcome(traced, run.recompute, layer.trainable).kept,
        (*traced.weights, *traced.buffers),
        {beta: run.dtype_bytes},
        layer.definitions if specialise else (),
        run.mesh,
    )


@functools.lru_cache(maxsize=1024)
@uncollected()
def _trace(layer: Layer, in_float32: bool, precision: Precision | None) -> Graph:
    stored = precision.stored if precision else COMPUTE
    return trace(
        layer.name,
        layer.function,
        layer.inputs,
        compute=FLOAT32 if in_float32 else stored,
        adapted=layer.adapted,
        precision=precision,
        **layer.keywords,
    )
