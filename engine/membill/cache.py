"""The cache of inference: what the layers keep of the tokens that a sequence has so far.

Which kinds of cache there are is knowledge and comes from specs. A layer's kind stands in its
slot of the architecture, so that models of several kinds follow from their pattern.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import sympy

from membill import registry
from membill.asked import split
from membill.dtypes import COMPUTE, DType
from membill.errors import InputError
from membill.formats import Format
from membill.formula import Formula
from membill.ledger import total
from membill.mesh import shard
from membill.models import Model
from membill.parts import LAYERS, Part
from membill.plans import Plan
from membill.plans import plan as make_plan
from membill.symbols import T, b, beta
from membill.tensor import count, dims, product

LEFT_OUT = (
    "the CUDA context, libraries' workspaces and communication buffers",
    "activations of the forward pass, and constants of a quantised cache",
)
"""What neither the cache nor the weights count, in words."""


@dataclass(frozen=True)
class Cache:
    """A kind of cache.

    tensors: what one layer keeps of b sequences, each (b, tokens, ...); T tokens, unless it is
    another letter. None for a layer that keeps nothing. window: how many tokens are kept at the
    most. usual: whether it is that of layers that name none.
    """

    name: str
    title: str
    summary: str
    source: str
    tensors: Mapping[str, tuple[sympy.Expr, ...]] = field(hash=False)
    window: sympy.Expr | None = None
    usual: bool = False

    def __post_init__(self) -> None:
        if len({dims(shape)[:2] for shape in self.tensors.values()}) > 1 or any(
            shape[0] != b for shape in self.tensors.values()
        ):
            raise InputError(f"cache {self.name!r}: tensors begin with b and the same tokens")

    @property
    def tokens(self) -> sympy.Expr:
        """How many tokens of a sequence are kept; 0 where nothing is."""
        found = [shape[1] for shape in self.tensors.values()]
        return self.bounded(found[0]) if found else sympy.Integer(0)

    @property
    def grows(self) -> bool:
        """Whether it depends on how long the sequence is."""
        return bool(self.tokens.has(T))

    def bounded(self, expr: sympy.Expr) -> sympy.Expr:
        """An expression over T with at most a window of tokens for it."""
        return expr if self.window is None else expr.xreplace({T: _least(self.window)})

    def bytes(self, dtype: DType = COMPUTE) -> Formula:
        """Bytes that one layer keeps of b sequences of T tokens, on one device that has all."""
        entries = sympy.Add(*(self.bounded(product(shape)) for shape in self.tensors.values()))
        return Formula(entries * dtype.bytes, "bytes")


@lru_cache(maxsize=256)
def _least(window: sympy.Expr) -> sympy.Expr:
    """T tokens, but no more than a window: SymPy takes its time to compare the two."""
    return sympy.Min(T, window)


@dataclass(frozen=True)
class CacheRow:
    """A model's layers of one kind, and what one device keeps for them.

    number: how many layers. shapes: one device's part of what one layer keeps. tokens: of a
    sequence on the device. token: bytes of one layer for each of these.
    """

    layer: str
    cache: Cache
    number: sympy.Expr
    shapes: Mapping[str, tuple[sympy.Expr, ...]]
    tokens: sympy.Expr
    token: Formula

    @property
    def bytes(self) -> Formula:
        """Bytes of b sequences in all these layers."""
        return self.of(self.tokens)

    def of(self, tokens: sympy.Expr) -> Formula:
        """Bytes of b sequences with so many tokens each, in all these layers."""
        size: Formula = self.token * (b * tokens * self.number)
        return size

    def marginal(self, beyond: bool) -> Formula:
        """Bytes that one more token of one sequence takes: within a window, or beyond it."""
        window = self.cache.window
        kept = T if window is None or not beyond else window
        tokens = self.tokens if window is None else self.tokens.xreplace({_least(window): kept})
        size: Formula = self.token * (tokens.diff(T) * self.number)
        return size

    def blocks(self, block: sympy.Expr) -> sympy.Expr:
        """How many blocks of so many tokens one layer takes for a sequence."""
        return sympy.ceiling(self.tokens / block)


@dataclass(frozen=True)
class CacheBill:
    """What one device keeps of b sequences of T tokens, in all layers.

    dtype: of the entries. values: numbers for letters. block: tokens in a block of a paged
    allocation; None where each sequence takes what it needs.
    """

    model: Model
    plan: Plan
    dtype: DType
    values: Mapping[str, int]
    rows: tuple[CacheRow, ...]
    block: sympy.Expr | None = None

    @cached_property
    def total(self) -> Formula:
        """Bytes that hold something, of all sequences."""
        return total(row.bytes for row in self.rows)

    @cached_property
    def allocated(self) -> Formula:
        """Bytes taken for all sequences: those of whole blocks, if it is paged."""
        if self.block is None:
            return self.total
        return total(row.of(self.block * row.blocks(self.block)) for row in self.rows)

    @property
    def sequence(self) -> Formula:
        """Bytes taken for one sequence."""
        return self.allocated.subs({b: 1})

    @property
    def waste(self) -> Formula:
        """Bytes of all sequences' blocks that hold nothing."""
        return self.allocated + self.total * -1

    @property
    def worst_waste(self) -> Formula:
        """Such bytes of one sequence at the most, as in blocks that each hold one token."""
        spare = sympy.Integer(0) if self.block is None else self.block - 1
        return total(row.of(spare) for row in self.rows).subs({b: 1})

    @property
    def token(self) -> Formula:
        """Bytes that one more token takes while every window has room for it."""
        return total(row.marginal(beyond=False) for row in self.rows)

    @property
    def token_beyond(self) -> Formula:
        """Bytes that one more token takes once every window is full."""
        return total(row.marginal(beyond=True) for row in self.rows)

    @property
    def windows(self) -> tuple[sympy.Expr, ...]:
        """The windows of its kinds, each once."""
        return tuple(dict.fromkeys(row.cache.window for row in self.rows if row.cache.window))

    def size(self, formula: Formula) -> int:
        """A formula of the bill as a number; InputError if a letter has no value."""
        return int(formula(**self.values))

    @property
    def bytes(self) -> int:
        """Bytes taken for all sequences."""
        return self.size(self.allocated)

    @property
    def left_out(self) -> tuple[str, ...]:
        """What is not counted, in words."""
        return LEFT_OUT


def cache(
    model: Model,
    plan: Plan | None = None,
    *,
    dtype: str | None = None,
    kind: str | None = None,
    block: int | sympy.Expr | None = None,
    **settings: Any,
) -> CacheBill:
    """What one device caches of a model.

    dtype: a format's name; the compute dtype unless told. kind: a kind of cache in the place of
    each that grows with the sequence. block: tokens in a block of a paged allocation. settings:
    numbers for letters besides the model's dimensions (b=8, T=32768), and settings of a plan, of
    which the mesh divides the cache (tp=8, cp=2). Raises InputError for what is not allowed.
    """
    letters, of_plan = split(settings)
    run = make_plan(plan, **of_plan)
    width = COMPUTE if dtype is None else registry.find(Format, dtype).dtype
    instead = None if kind is None else registry.find(Cache, kind)
    return CacheBill(
        model,
        run,
        width,
        model.values(**letters),
        _rows(model, run, width, instead),
        None if block is None else count(block, "block", "how many tokens it holds"),
    )


def kind_of(part: Part) -> Cache:
    """A layer's kind of cache: that of its slot, or else the usual one."""
    if part.cache:
        return registry.find(Cache, part.cache)
    return next(each for each in registry.everything(Cache).values() if each.usual)


def _rows(model: Model, plan: Plan, dtype: DType, instead: Cache | None) -> tuple[CacheRow, ...]:
    """Equal layers, wherever they stand in the pattern, are one row."""
    found: dict[object, CacheRow] = {}
    for row in _places(model, plan, dtype, instead):
        key = (row.layer, row.cache.name, row.tokens, row.token)
        number = row.number + (found[key].number if key in found else 0)
        found[key] = replace(row, number=number)
    return tuple(found.values())


def _places(model: Model, plan: Plan, dtype: DType, instead: Cache | None) -> Iterator[CacheRow]:
    for part in model.parts:
        own = kind_of(part) if part.where == LAYERS else None
        if own is not None and own.tensors:
            used = instead if instead is not None and own.grows else own
            yield from _row(part, used, plan, dtype)


def _row(part: Part, used: Cache, plan: Plan, dtype: DType) -> Iterator[CacheRow]:
    """One device's row; none for a kind that keeps nothing."""
    # A switch of the mesh divides activations: the tokens that are cached stay where they are.
    mesh = replace(plan.mesh, rules=tuple(x for x in plan.mesh.rules if not x.switch))
    local = {name: shard(dims(shape), mesh) for name, shape in used.tensors.items()}
    if not local:
        return
    shapes = {name: tuple(map(used.bounded, own.shape)) for name, own in local.items()}
    conditions = dict.fromkeys(
        each.xreplace({T: used.bounded(T)}) for own in local.values() for each in own.conditions
    )
    entries = sympy.Add(*(product(shape[2:]) for shape in shapes.values()))
    width = dtype.bytes.subs({beta: plan.dtype_bytes})
    token = Formula(entries * width, "bytes", (), tuple(conditions))
    tokens = next(iter(shapes.values()))[1]
    yield CacheRow(part.name, used, part.times, shapes, tokens, token)
