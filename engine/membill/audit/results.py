"""What all audits found, as data and as a file: PyTorch's version, the date, sizes and bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from membill.audit import suite
from membill.audit.compare import Comparison
from membill.audit.suite import LayerAudit
from membill.errors import InputError

Results = Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What the audit of one op or module found: data to keep, and a message for each mismatch."""

    data: Any
    wrong: tuple[str, ...]


def of_op(kind: str) -> Outcome:
    """Audit all calls of an op, at every size, with every choice of gradients."""
    audits = [audit for audit in suite.op_audits() if audit.case.kind == kind]
    found = [comparison for audit in audits for comparison in audit.run()]
    calls = list(dict.fromkeys(audit.case.name for audit in audits))
    return Outcome({"calls": calls, "comparisons": len(found)}, _wrong(found))


def of_module(name: str) -> Outcome:
    """Audit the module of this name against its layer's spec, in every variant that it has."""
    audits = [audit for audit in suite.layer_audits() if audit.reference.name == name]
    found = [audit.run() for audit in audits]
    data = [_entry(*pair) for pair in zip(audits, found, strict=True)]
    return Outcome(data, _wrong(found))


def _wrong(found: Iterable[Comparison]) -> tuple[str, ...]:
    return tuple(comparison.message() for comparison in found if not comparison.equal)


def _entry(audit: LayerAudit, found: Comparison) -> dict[str, Any]:
    return {
        "layer": audit.layer.name,
        "module": audit.reference.name,
        "options": dict(audit.layer.chosen),
        "model": audit.model,
        "dims": dict(audit.dims),
        "dtype": audit.dtype,
        "device": audit.device,
        "storages": len(found.pairs),
        "bytes": found.bytes[1],
    }


def assembled(ops: Mapping[str, Outcome], modules: Mapping[str, Outcome]) -> Results:
    """The results of all, by op and by module."""
    return {
        "torch": str(torch.__version__).partition("+")[0],
        "date": datetime.now(UTC).date().isoformat(),
        "ops": {kind: outcome.data for kind, outcome in ops.items()},
        "layers": [entry for outcome in modules.values() for entry in outcome.data],
    }


def summary(found: Results) -> str:
    """`30 ops in 2,000 comparisons and 3 layers in 300, against PyTorch 2.13.0`."""
    ops, layers = found["ops"], found["layers"]
    compared = sum(entry["comparisons"] for entry in ops.values())
    names = {entry["layer"] for entry in layers}
    return (
        f"{len(ops)} ops in {compared:,} comparisons and {len(names)} layers in "
        f"{len(layers):,}, against PyTorch {found['torch']}"
    )


def as_text(found: Results) -> str:
    """The results as JSON with a line for each op and layer, so that a change reads as one."""
    head = "".join(f"  {json.dumps(key)}: {json.dumps(found[key])},\n" for key in ("torch", "date"))
    ops = (f"{json.dumps(kind)}: {json.dumps(entry)}" for kind, entry in found["ops"].items())
    layers = map(json.dumps, found["layers"])
    return f'{{\n{head}  "ops": {{\n{_lines(ops)}  }},\n  "layers": [\n{_lines(layers)}  ]\n}}\n'


def _lines(items: Iterable[str]) -> str:
    return ",\n".join(f"    {item}" for item in items) + "\n"


def differences(before: Results, now: Results) -> tuple[str, ...]:
    """The lines in which two results differ, the date apart."""
    old, new = (
        {line.strip().rstrip(",") for line in as_text({**found, "date": ""}).splitlines()}
        for found in (before, now)
    )
    return (
        *(f"no longer so: {line}" for line in sorted(old - new)),
        *(f"not on file: {line}" for line in sorted(new - old)),
    )


def read(path: Path) -> Results:
    """The results in a file; InputError if it holds none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as results of the audit: {error}") from error
    if not isinstance(found, dict) or not {"torch", "date", "ops", "layers"} <= found.keys():
        raise InputError(f"{path} holds no results of the audit: write it anew with --write")
    return found
