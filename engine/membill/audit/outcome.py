"""Running audits: what each of them finds, and all of it together as results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import groupby
from typing import Any, TypeVar

from membill.audit import references, suite
from membill.audit.compare import Comparison
from membill.audit.requirements import versions
from membill.audit.results import OpResult, Results, Run, Subject
from membill.audit.suite import LayerAudit, ModelAudit

Audit = TypeVar("Audit", LayerAudit, ModelAudit)


@dataclass(frozen=True)
class Outcome:
    """What audits found: results to keep, and a message for each mismatch."""

    results: tuple[Any, ...]
    wrong: tuple[str, ...]


@cache
def of_op(kind: str) -> Outcome:
    """Audit all calls of an op, at every size, with every choice of gradients."""
    audits = tuple(suite.op_audits(kind))
    found = [comparison for audit in audits for comparison in audit.run()]
    calls = tuple(dict.fromkeys(audit.case.name for audit in audits))
    return Outcome((OpResult(kind, calls, len(found)),), _wrong(found))


@cache
def of_module(name: str) -> Outcome:
    """Audit the module of this name against its layer's spec, in every variant that it has."""
    return _outcome(suite.layer_audits(references.modules()[name]), _layer_subject)


@cache
def of_model(name: str) -> Outcome:
    """Audit the whole model of this name against the architecture that describes it."""
    return _outcome(suite.model_audits(references.models()[name]), _model_subject)


@dataclass(frozen=True)
class Whole:
    """What all audits found, and what is wrong: mismatches, and what has no audit."""

    results: Results
    wrong: tuple[str, ...]


def everything() -> Whole:
    """Run every audit that there is, unless it has been run before."""
    ops = [of_op(kind) for kind in references.counterparts()]
    modules = [of_module(name) for name in references.modules()]
    models = [of_model(name) for name in references.models()]
    results = Results(
        versions=versions(),
        date=datetime.now(UTC).date().isoformat(),
        ops=tuple(item for outcome in ops for item in outcome.results),
        layers=tuple(item for outcome in modules for item in outcome.results),
        models=tuple(item for outcome in models for item in outcome.results),
    )
    missing = (f"{name} has nothing to be audited against" for name in suite.unaudited())
    found = (text for outcome in (*ops, *modules, *models) for text in outcome.wrong)
    return Whole(results, (*missing, *found))


def _outcome(audits: Iterable[Audit], subject: Callable[[Audit], dict[str, Any]]) -> Outcome:
    """Run audits; those in a row that are about the same become one subject."""
    kept: list[Subject] = []
    found: list[Comparison] = []
    for about, same in groupby(audits, subject):
        own = [(audit, audit.run()) for audit in same]
        found.extend(comparison for _, comparison in own)
        kept.append(Subject(**about, runs=tuple(_run(*pair) for pair in own)))
    return Outcome(tuple(kept), _wrong(found))


def _layer_subject(audit: LayerAudit) -> dict[str, Any]:
    layer = audit.layer
    adapted = layer.adapted
    return {
        "layer": layer.name,
        "module": audit.reference.name,
        "options": dict(layer.chosen),
        "adapter": adapted.adapter.name if adapted else "",
        "on": adapted.on if adapted else (),
        "frozen": layer.frozen,
    }


def _model_subject(audit: ModelAudit) -> dict[str, Any]:
    known = audit.reference
    return {"layer": known.layer, "module": known.name, "options": dict(audit.options)}


def _run(audit: LayerAudit | ModelAudit, found: Comparison) -> Run:
    return Run(
        dims=dict(audit.dims),
        dtype=audit.dtype,
        device=audit.device,
        storages=len(found.pairs),
        bytes=found.bytes[1],
        model=audit.model,
    )


def _wrong(found: Iterable[Comparison]) -> tuple[str, ...]:
    return tuple(comparison.message() for comparison in found if not comparison.equal)
