"""What is asked for on the command line: a layer, a plan for it, and how to count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import sympy

from membill import printer, tables
from membill.formula import Formula
from membill.layers import Layer, Price
from membill.ledger import Ledger
from membill.models import Model


@dataclass(frozen=True)
class Request:
    """A layer, how it is run and how to count it.

    precision: a name, or None for one dtype. recompute: a policy's name or scopes. mesh: degrees
    and switches by name, those given.
    """

    layer: Layer
    precision: str | None = None
    recompute: str | tuple[str, ...] = "none"
    mesh: Mapping[str, Any] = field(default_factory=dict)
    statistics: bool = True
    dtype_bytes: int | sympy.Expr = 2
    specialise: bool = True

    @cached_property
    def ledger(self) -> Ledger:
        """What the layer keeps, counted as asked for."""
        return self.layer.ledger(
            precision=self.precision,
            recompute=self.recompute,
            dtype_bytes=self.dtype_bytes,
            specialise=self.specialise,
            statistics=self.statistics,
            **self.mesh,
        )

    def trained(self) -> Formula:
        """How many parameters take a gradient."""
        return self.layer.trainable_parameters(specialise=self.specialise, **self.mesh)

    @cached_property
    def price(self) -> Price:
        """What the recomputation that is asked for costs."""
        return self.layer.price(precision=self.precision, recompute=self.recompute)

    def stages(self) -> tuple[tuple[str, Request], ...]:
        """The plan bit by bit: the layer as it is, then with one more thing done to it each.

        The first has no name; what the plan does not do has no stage.
        """
        bare = replace(self.layer, adapted=None, frozen=())
        start = replace(self, layer=bare, precision=None, recompute="none", mesh={})
        mixed = replace(start, precision=self.precision)
        trained = replace(mixed, layer=self.layer)
        recomputed = replace(trained, recompute=self.recompute)
        later = (
            (self._mixed(), mixed),
            (self.trained_text(), trained),
            (self._recomputed(), recomputed),
            (self._sharded(), self),
        )
        return (("", start), *(stage for stage in later if stage[0]))

    def _mixed(self) -> str:
        return f"precision={self.precision}" if self.precision else ""

    def trained_text(self) -> str:
        """`adapt=lora on=q,v freeze=mlp`: what is done to its training; "" if nothing."""
        adapted = self.layer.adapted
        named = {
            "adapt": adapted.adapter.name if adapted else "",
            "on": ",".join(adapted.on) if adapted else "",
            "freeze": ",".join(self.layer.frozen),
        }
        return " ".join(f"{name}={value}" for name, value in named.items() if value)

    def _recomputed(self) -> str:
        scopes = [self.recompute] if isinstance(self.recompute, str) else self.recompute
        return "" if self.recompute == "none" else f"recompute={','.join(scopes)}"

    def _sharded(self) -> str:
        return " ".join(f"{name}={tables.spelled(value)}" for name, value in self.mesh.items())

    def described(self) -> str:
        """`gpt attention=eager recompute=mlp tp=8`: the spec's options, and others where set."""
        counted = [
            "" if self.dtype_bytes == 2 else f"dtype_bytes={self.dtype_bytes}",
            "" if self.statistics else "statistics=off",
            "" if self.specialise else "specialise=off",
        ]
        run = [self._mixed(), self.trained_text(), self._recomputed(), self._sharded()]
        own = [self.layer.name, tables.options_text(self.layer)]
        return " ".join(filter(None, [*own, *run, *counted]))

    def as_data(self) -> dict[str, Any]:
        """What was asked for, for JSON."""
        put_in = self.layer.definitions if self.specialise else ()
        adapted = self.layer.adapted
        return {
            "layer": self.layer.name,
            "title": self.layer.title,
            "source": self.layer.source,
            "options": dict(self.layer.chosen),
            "precision": self.precision,
            "adapter": adapted and {"name": adapted.adapter.name, "on": list(adapted.on)},
            "frozen": list(self.layer.frozen),
            "recompute": self.recompute,
            "mesh": {name: _number_or_text(value) for name, value in self.mesh.items()},
            "statistics": self.statistics,
            "dtype_bytes": _number_or_text(self.dtype_bytes),
            "definitions": {str(symbol): printer.text(value) for symbol, value in put_in},
        }


@dataclass(frozen=True)
class ModelRequest:
    """A model, settings of a plan for it, and how to count it.

    run: precision, recompute, dtype_bytes and those of the mesh. counting: as in `Model.bill`.
    """

    model: Model
    run: Mapping[str, Any]
    counting: Mapping[str, bool]

    def described(self) -> str:
        """`llama-3-8b attention=flash recompute=full tp=8`: options, and settings where set."""
        chosen = tables.settings_text(self.model.options)
        usual = {"precision": None, "recompute": "none", "dtype_bytes": 2}
        run = {
            name: ",".join(value) if isinstance(value, tuple) else value
            for name, value in self.run.items()
            if name not in usual or value != usual[name]
        }
        counted = {name: value for name, value in self.counting.items() if not value}
        own = [self.model.name, *self._replaced(), chosen, *_tuned(self.model)]
        return " ".join(filter(None, [*own, tables.settings_text({**run, **counted})]))

    def _replaced(self) -> list[str]:
        """The layer that stands in for the model's own, if one does."""
        layers = dict.fromkeys(part.layer.name for group in self.model.groups for part in group)
        own = self.model.architecture.layers
        return [] if tuple(layers) == own else [f"layer={','.join(layers)}"]

    def as_data(self) -> dict[str, Any]:
        """What was asked for, for JSON."""
        model = self.model
        return {
            "model": model.name,
            "title": model.title,
            "source": model.shape.source if model.shape else model.architecture.source,
            "options": dict(model.options),
            "trained": list(_tuned(model)),
            "settings": {name: _number_or_text(value) for name, value in self.run.items()},
            **self.counting,
        }


def _tuned(model: Model) -> tuple[str, ...]:
    """What is trained of each of the model's layers, where that is not all of it."""
    requests = (Request(part.layer) for group in model.groups for part in group)
    return tuple(dict.fromkeys(filter(None, (each.trained_text() for each in requests))))


def _number_or_text(value: object) -> object:
    return value if isinstance(value, (int, tuple)) or value is None else str(value)


def formula_data(formula: Formula) -> dict[str, str]:
    """A formula in its notations, for JSON."""
    return {
        "text": str(formula),
        "latex": formula.latex(),
        "python": formula.python(),
        "unit": formula.unit,
    }
