"""Plans against published formulas and figures: every row and column."""

import tomllib
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sympy
from sympy.parsing.sympy_parser import parse_expr

import membill
from membill import registry, symbols
from membill.formula import Formula
from membill.ledger import Ledger, total
from membill.pipeline import Schedule, stage
from membill.symbols import i, m, p, v
from membill.tensor import Role
from membill.units import GIB

FACTS = tomllib.loads((Path(__file__).parent / "facts" / "published.toml").read_text("utf-8"))
PAPER = FACTS["korthikanti2022"]
LETTERS = {info.name: info.symbol for info in symbols.table()}
SCHEDULES = registry.everything(Schedule)


def published(text: str) -> sympy.Expr:
    return parse_expr(text, local_dict=LETTERS).expand()


def activations(given: Mapping[str, Any]) -> Formula:
    letters = {name: LETTERS.get(value, value) for name, value in given.items()}
    return membill.layer("gpt").activations(statistics=False, **letters)


@cache
def ends(**settings: Any) -> tuple[Ledger, Ledger]:
    """What stands before the layers and after them: embedding, dropout; final norm, head, loss."""
    gpt, plan = membill.model("gpt"), membill.plan(**settings)
    return gpt.start.ledger(plan), gpt.end.ledger(plan)


def before_layers(**settings: Any) -> list[Formula]:
    return [row.bytes for row in ends(**settings)[0].rows if row.role is Role.MASK]


def after_layers(**settings: Any) -> Formula:
    """The final norm's input and output and the float32 logarithms, as the paper counts."""
    rows = ends(**settings)[1].rows
    return total(row.bytes for row in rows if row.role is Role.ACTIVATION)


@pytest.mark.parametrize("plan", PAPER["plans"])
def test_layer_under_a_plan(plan: str) -> None:
    fact = PAPER["plans"][plan]
    derived = activations(fact["settings"])
    assert derived.unit == "bytes"
    assert derived.expr == published(fact["text"])


def test_embedding_mask_and_head_under_tensor_and_sequence_parallelism() -> None:
    plan = {"tp": symbols.t, "sp": True}
    [mask] = before_layers(**plan)
    assert after_layers(**plan).expr == published(PAPER["head"])
    whole = stage(SCHEDULES["1f1b"], mask * 0, index=0, before=mask).bytes
    # As many micro-batches as stages, or more: all stages are busy.
    assert whole.expr.xreplace({sympy.Min(m, p): p}) == published(PAPER["embedding_mask"])


def test_embedding_mask_of_the_playbook() -> None:
    [mask] = before_layers()
    assert mask.expr == published(FACTS["playbook"]["embedding_mask"])


@pytest.mark.parametrize("chunks", range(2, 6))
@pytest.mark.parametrize("stages", [1, 2, 3, 8, 35, 64])
def test_interleaving_holds_this_much_more_on_the_first_stage(stages: int, chunks: int) -> None:
    at = {p: stages, v: chunks, m: 4 * stages, i: 0}
    held = [SCHEDULES[name].in_flight.subs(at) for name in ("interleaved", "1f1b")]
    assert held[0] / held[1] == published(PAPER["interleaved"]).subs(at)


def schedule(row: Mapping[str, Any]) -> tuple[Schedule, dict[sympy.Symbol, int]]:
    given = {p: row["p"], m: 4 * row["p"]}
    if row["v"] == 1:
        return SCHEDULES["1f1b"], given
    return SCHEDULES["interleaved"], {**given, v: row["v"]}


ROWS = [dict(zip(PAPER["GiB"]["columns"], row, strict=True)) for row in PAPER["GiB"]["rows"]]
PLANS = [name for name in PAPER["GiB"]["columns"] if name in PAPER["plans"]]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["model"])
@pytest.mark.parametrize("plan", PLANS)
def test_layers_on_the_first_stage(row: Mapping[str, Any], plan: str) -> None:
    order, given = schedule(row)
    formula = activations({**PAPER["plans"][plan]["settings"], "tp": row["t"]})
    held = stage(order, formula, index=0, given=given).bytes
    dims = {name: row[name] for name in ("d", "h", "L", "b")}
    assert Fraction(held(**dims, T=PAPER["T"]), GIB) == Fraction(row[plan])


def test_every_column_of_the_table_is_checked() -> None:
    assert set(PAPER["GiB"]["columns"]) == {"model", *"dhLbtpv", *PLANS}
    assert len(PLANS) == 5
    assert len(ROWS) == 4


@pytest.mark.parametrize("row", FACTS["playbook"]["rows"], ids=lambda row: row[0])
def test_playbook_from_the_layers_with_the_derived_mask(row: list[Any]) -> None:
    at = dict(zip(FACTS["playbook"]["columns"], row, strict=True))
    [mask] = before_layers()
    for column in (name for name in at if "@" in name):
        policy, _, tokens = column.partition("@")
        whole = activations({"recompute": policy}) * symbols.L + mask
        size = whole(**{name: at[name] for name in "Ldh"}, T=int(tokens), b=1)
        assert Fraction(size, GIB) == Fraction(at[column]), column
