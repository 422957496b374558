"""What a layer's page states beyond its ledger: modes, sizes at real shapes, shares.

Nothing here is about one network. Which models a page shows follows from which shapes fit the
layer; which tensors grow with the square of the length follows from their axes.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from membill import tables
from membill.architecture import layers_of
from membill.errors import InputError
from membill.formula import Formula
from membill.layers import Layer, Option, OptionValue
from membill.ledger import Ledger, Row, total
from membill.plans import Plan
from membill.recompute import NONE, Policy, applicable
from membill.render.charts import Curve
from membill.shapes import Shape
from membill.symbols import T

LENGTHS = (2048, 8192, 32768, 131072)
"""The context lengths of the tables of sizes."""

COMPUTE_BYTES = Plan().dtype_bytes
"""Bytes of an entry in the compute format, unless told."""

CURVE = tuple(1024 * 2**step for step in range(8))
"""The context lengths along a curve."""


@dataclass(frozen=True)
class Mode:
    """One way to run a layer: its default, another choice of one option, or a recompute policy."""

    name: str
    summary: str
    layer: Layer
    policy: Policy = NONE

    @property
    def anchor(self) -> str:
        """The mode's name as the fragment of an address."""
        return "-".join("".join(c if c.isalnum() else " " for c in self.name).lower().split())

    @property
    def recomputes(self) -> bool:
        """Whether anything is run again in backward."""
        return self.policy != NONE

    @cached_property
    def ledger(self) -> Ledger:
        """What is kept in this mode."""
        return self.layer.ledger(recompute=self.policy)

    @cached_property
    def activations(self) -> Formula:
        """Bytes kept in this mode."""
        return self.ledger.total()


def default_mode(layer: Layer) -> Mode:
    """The layer as its signature has it, with nothing recomputed."""
    return Mode("default", "", layer)


def modes(layer: Layer, policies: Iterable[Policy]) -> tuple[Mode, ...]:
    """The ways to run the layer that differ from the default in one thing."""
    choices = tuple(
        Mode(
            f"{option.name} = {tables.spelled(value)}",
            _choice_summary(option, value),
            layer.variant(**{option.name: value}),
        )
        for option in layer.options
        for value in option.values
        if value != option.default
    )
    recomputed = tuple(
        Mode(f"recompute = {policy.name}", _policy_summary(policy), layer, policy)
        for policy in applicable(policies, layer.graph())
        if policy != NONE
    )
    return (*choices, *recomputed)


def _choice_summary(option: Option, value: OptionValue) -> str:
    """The docstring of the function that stands behind an option's value, if one does."""
    chosen = option.choices[value]
    return inspect.getdoc(chosen) or "" if inspect.isfunction(chosen) else ""


def _policy_summary(policy: Policy) -> str:
    return f"{policy.summary} {policy.source + '.' if policy.source else ''}".strip()


@dataclass(frozen=True)
class Size:
    """A layer at a model's shape, for one sequence of `length` tokens.

    bytes: of the layer's activations. width: the model's, if its shape has one.
    squared: bytes of the tensors that grow with the square of the length.
    """

    length: int
    bytes: int
    width: int | None
    squared: int

    @property
    def per_token(self) -> Fraction:
        """Bytes for each token."""
        return Fraction(self.bytes, self.length)

    @property
    def per_token_in_widths(self) -> Fraction | None:
        """Bytes for each token as a multiple of the model's width."""
        return self.per_token / self.width if self.width else None

    @property
    def squared_share(self) -> Fraction:
        """The part that grows with the square of the length."""
        return Fraction(self.squared, self.bytes)


def fitting(layer: Layer, shapes: Iterable[Shape]) -> tuple[Shape, ...]:
    """The shapes with a value for every symbol of the layer that agree with its definitions.

    Those of the layer's own models come first, and larger ones first.
    """
    ledger = layer.ledger()
    activations, parameters = ledger.total(), ledger.parameters()
    found: list[tuple[bool, int, str, Shape]] = []
    for shape in shapes:
        try:
            activations(**at(shape, LENGTHS[0]))
            size = parameters(**shape)
        except InputError:
            continue
        found.append((layer.name not in layers_of(shape), -size, shape.name, shape))
    return tuple(shape for *_, shape in sorted(found, key=lambda item: item[:3]))


def at(shape: Shape, length: int) -> Mapping[str, int]:
    """The shape's dimensions for one sequence of `length` tokens."""
    return {**shape, "b": 1, "T": length}


def sizes(ledger: Ledger, shape: Shape, lengths: Iterable[int] = LENGTHS) -> tuple[Size, ...]:
    """What a layer keeps at the shape, for several lengths."""
    whole, square = ledger.total(), total(row.bytes for row in squared(ledger))
    return tuple(
        Size(length, whole(**where), shape.get("d"), square(**where))
        for length in lengths
        for where in [at(shape, length)]
    )


def summands(rows: Iterable[Row], scope: str) -> tuple[str, ...]:
    """LaTeX of what a scope's rows add up from, like sizes counted, in the order of the rows."""
    counted = Counter(row.bytes for row in rows if row.scope == scope)
    return tuple(
        size.latex() if number == 1 else rf"{number} \cdot {size.latex()}"
        for size, number in counted.items()
    )


def kept_by(layer: Layer, kind: str) -> tuple[Row, ...]:
    """The rows of the layer that an op of this kind needs."""
    paths = {op.path for op in layer.graph().ops if op.kind == kind}
    return tuple(row for row in layer.ledger().rows if paths & set(row.needed_by))


def rows_in(ledger: Ledger, scope: str) -> tuple[Row, ...]:
    """The rows that are billed to an outermost scope."""
    return tuple(row for row in ledger.rows if row.scope == scope)


def echoes(rows: Iterable[Row]) -> Mapping[str, str]:
    """Tensors that are kept for the same several gradients as one before, with that one."""
    first: dict[tuple[str, ...], str] = {}
    return {
        row.tensor: earlier
        for row in rows
        if (earlier := first.setdefault(row.why, row.tensor)) != row.tensor and len(row.why) > 1
    }


def statistics(layer: Layer) -> Formula:
    """Bytes that the form of papers leaves out: exact total less that form."""
    return layer.activations() + layer.activations(statistics=False) * -1


def ratio(part: int, whole: int) -> Fraction:
    """The exact quotient of two counts."""
    return Fraction(part, whole)


def squared(ledger: Ledger) -> tuple[Row, ...]:
    """The rows with the sequence length in two of their axes."""
    return tuple(
        row for row in ledger.rows if sum(T in axis.free_symbols for axis in row.shape) > 1
    )


def squared_name(ledger: Ledger) -> str:
    """What to call those rows: matrices of the scope, if one bills them all."""
    scopes = {row.scope for row in squared(ledger)}
    return f"{scopes.pop()} matrices" if len(scopes) == 1 else "matrices over pairs of tokens"


def points(curves: Iterable[Curve]) -> tuple[Any, ...]:
    """Where any of the curves has a point."""
    return tuple(sorted({at for curve in curves for at in curve.points}))
