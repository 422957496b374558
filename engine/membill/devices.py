"""What one device holds of a stack of layers under a plan, and what it moves each step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy

from membill.formula import Formula
from membill.layers import Layer
from membill.ledger import total
from membill.offload import Movement, Traffic, traffic
from membill.pipeline import Stage, stage
from membill.plans import Plan
from membill.plans import plan as make_plan
from membill.recipe import StateRow, model_states
from membill.symbols import L, p
from membill.tensor import count

ACTIVATIONS = "activations"


@dataclass(frozen=True)
class Device:
    """One device of a plan.

    stage: its layers and their activations. parameters: those of its layers that it computes
    with. states: what it holds for them, by the recipe; empty without one.
    moved: what is offloaded from it, with the traffic of a step.
    """

    stage: Stage
    parameters: Formula
    states: tuple[StateRow, ...]
    moved: tuple[tuple[Movement, Traffic], ...]

    @property
    def bills(self) -> tuple[tuple[str, Formula], ...]:
        """Bytes by what they are for, wherever they lie."""
        states = ((row.state.name, row.bytes) for row in self.states)
        return (*states, (ACTIVATIONS, self.stage.bytes))

    @property
    def stays(self) -> Formula:
        """Bytes that are on the device all the time: what no movement takes off it."""
        gone = {movement.what for movement, _ in self.moved}
        kept = [row.bytes for row in self.states if row.state.kind not in gone]
        if ACTIVATIONS not in gone:
            kept.append(self.stage.bytes)
        return total(kept)


def device(
    layer: Layer,
    plan: Plan | None = None,
    *,
    layers: int | sympy.Expr = L,
    index: int | sympy.Expr = 0,
    specialise: bool = True,
    statistics: bool = True,
    **settings: Any,
) -> Device:
    """One device that runs `layers` equal layers, or its stage of a pipeline of them.

    index: which stage, from 0. specialise, statistics: as in `Layer.ledger`. settings: as in
    `membill.plan`. The embedding and the head are not counted. Raises InputError for what the
    plan does not allow.
    """
    run = make_plan(plan, **settings)
    number = count(layers, "layers", "how many")
    kept = layer.activations(run, specialise=specialise, statistics=statistics)
    if run.schedule is None:
        own = Stage(sympy.Integer(0), number, sympy.Integer(1), kept * number)
    else:
        each = number / p
        own = stage(run.schedule, kept, index=index, layers=each, given=run.letters)
    parameters = layer.parameters(run, specialise=specialise) * own.layers
    states = _states(run, parameters)
    sizes = {ACTIVATIONS: own.bytes}
    for row in states:
        sizes[row.state.kind] = total([row.bytes, *filter(None, [sizes.get(row.state.kind)])])
    moved = tuple(
        (movement, traffic(movement, sizes.get(movement.what, total(()))))
        for movement in run.offload
    )
    return Device(own, parameters, states, moved)


def _states(run: Plan, parameters: Formula) -> tuple[StateRow, ...]:
    """What the recipe keeps of a device's parameters; it holds where their number does."""
    if run.recipe is None:
        return ()
    rows = model_states(
        run.recipe,
        parameters.expr,
        divided=run.divided,
        devices=run.devices,
        dtype_bytes=run.dtype_bytes,
    )
    return tuple(row.under(parameters) for row in rows)
