"""`membill states RECIPE`: what is kept of each parameter, in all and on one device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import click
import sympy

from membill import registry, units
from membill.cli.facts import needs
from membill.cli.output import Fact, Section, write, write_json
from membill.cli.request import formula_data
from membill.cli.values import amount_or_symbol, symbol_or_count
from membill.errors import InputError
from membill.formula import Formula
from membill.recipe import (
    Partition,
    Recipe,
    StateRow,
    divided_at,
    model_states,
    states_total,
)
from membill.symbols import N, N_d
from membill.tables import Table


@dataclass(frozen=True)
class States:
    """The states of a recipe at so many parameters, and how devices divide them.

    stages: of each partitioning that was asked for. devices: None unless there is one.
    """

    recipe: Recipe
    parameters: int | sympy.Symbol
    stages: Mapping[str, int]
    devices: int | sympy.Symbol | None

    def whole(self, parameters: int | sympy.Symbol) -> tuple[StateRow, ...]:
        """Every state, divided by nothing."""
        return model_states(self.recipe, parameters)

    def on_one_device(self, parameters: int | sympy.Symbol) -> tuple[StateRow, ...]:
        """One device's part of every state; nothing if no partitioning was asked for."""
        if self.devices is None:
            return ()
        kinds = (
            divided_at(registry.find(Partition, name), stage) for name, stage in self.stages.items()
        )
        divided = frozenset[str]().union(*kinds)
        return model_states(self.recipe, parameters, divided=divided, devices=self.devices)

    def totals(self, parameters: int | sympy.Symbol) -> dict[str, Formula]:
        """The sums, by what they are sums of."""
        rows = {
            "in all": self.whole(parameters),
            "on one device": self.on_one_device(parameters),
        }
        return {name: states_total(found) for name, found in rows.items() if found}


class Command(click.Command):
    """A command with an option for every partitioning that the spec packages declare."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The command's own parameters, and the partitionings."""
        partitions = registry.everything(Partition).values()
        return [*super().get_params(ctx), *map(partition_option, partitions)]


def partition_option(partition: Partition) -> click.Option:
    """The option for the stages of a partitioning."""
    stages = "|".join(map(str, sorted(partition.stages)))
    flag = f"--{partition.name.replace('_', '-')}"
    return click.Option([partition.name, flag], metavar=stages, help=partition.summary)


@click.command(cls=Command)
@click.argument("recipe", metavar="RECIPE")
@click.option(
    "-N",
    "parameters",
    metavar="INTEGER",
    help="Parameters of the model, such as 7.5e9. The symbol N unless told.",
)
@click.option(
    "--dp",
    metavar="DEGREE|SYMBOL",
    help=f"Data-parallel devices that divide the states. The symbol {N_d} unless told.",
)
@click.option("--json", is_flag=True, help="Print everything as JSON.")
def states(
    recipe: str, parameters: str | None, dp: str | None, json: bool, **stages: str | None
) -> None:
    """Show what a training recipe keeps of each parameter.

    RECIPE is one of those that `membill list` names.
    """
    found = States(
        registry.find(Recipe, recipe),
        N if parameters is None else amount_or_symbol("-N", parameters),
        {name: partition_stage(name, given) for name, given in stages.items() if given is not None},
        _devices(dp, stages),
    )
    if json:
        write_json(_as_data(found))
    else:
        write((found.recipe.title, _described(found)), _sections(found))


def partition_stage(name: str, given: str) -> int:
    """The stage of a partitioning that was asked for; InputError if there is none such."""
    stage: Any = int(given) if given.isascii() and given.isdigit() else given
    divided_at(registry.find(Partition, name), stage)
    return int(stage)


def _devices(dp: str | None, stages: Mapping[str, str | None]) -> int | sympy.Symbol | None:
    if any(stage is not None for stage in stages.values()):
        return N_d if dp is None else symbol_or_count("--dp", dp)
    if dp is not None:
        ways = " or ".join(f"--{name} STAGE" for name in stages)
        raise InputError(f"--dp {dp} divides nothing by itself: give {ways} with it")
    return None


def _described(found: States) -> str:
    amount = found.parameters
    given = {
        "N": "" if amount == N else f"{amount:,}" if isinstance(amount, int) else str(amount),
        **{name: str(stage) for name, stage in found.stages.items()},
        "dp": "" if found.devices is None else str(found.devices),
    }
    return " ".join(
        [found.recipe.name, *(f"{name}={text}" for name, text in given.items() if text)]
    )


def _sections(found: States) -> list[Section]:
    symbolic = N if isinstance(found.parameters, int) else found.parameters
    formulas = found.totals(symbolic)
    facts: list[Fact] = [(name, f"{sum_} {sum_.unit}") for name, sum_ in formulas.items()]
    closed = Section("closed form", (*facts, *needs(formulas.values())))
    sizes = {
        name: sum_() for name, sum_ in found.totals(found.parameters).items() if not sum_.symbols
    }
    return [Section("model states", _table(found)), closed, *([_numbers(sizes)] if sizes else [])]


def _table(found: States) -> Table:
    whole, local = found.whole(found.parameters), found.on_one_device(found.parameters)
    headers = ("state", "dtype", "bytes a parameter", "bytes in all", "bytes on one device")
    rows = [
        (row.state.name, str(row.state.dtype), _per_parameter(row), _cell(row.bytes))
        for row in whole
    ]
    if not local:
        return Table(headers[:-1], tuple(rows))
    pairs = zip(rows, local, strict=True)
    return Table(headers, tuple((*cells, _cell(row.bytes)) for cells, row in pairs))


def _per_parameter(row: StateRow) -> str:
    value = Fraction(int(row.state.bits.p), int(row.state.bits.q)) / 8
    return units.decimal(value, 0 if value.denominator == 1 else 3)


def _cell(size: Formula) -> str:
    return str(size) if size.symbols else f"{size():,}"


def _numbers(sizes: Mapping[str, int]) -> Section:
    rows = (
        ("exact", *map(units.exact, sizes.values())),
        ("in GB (10⁹ B)", *map(units.gb, sizes.values())),
        ("in GiB (2³⁰ B)", *map(units.gib, sizes.values())),
    )
    return Section("", Table(("", *sizes), rows))


def _as_data(found: States) -> dict[str, Any]:
    local = found.on_one_device(found.parameters)
    rows = found.whole(found.parameters)
    return {
        "recipe": found.recipe.name,
        "title": found.recipe.title,
        "source": found.recipe.source,
        "parameters": _number(found.parameters),
        "stages": dict(found.stages),
        "devices": None if found.devices is None else _number(found.devices),
        "states": [
            {
                "name": row.state.name,
                "kind": row.state.kind,
                "dtype": str(row.state.dtype),
                "bits_per_parameter": str(row.state.bits),
                "in_all": formula_data(row.bytes),
                "on_one_device": formula_data(local[place].bytes) if local else None,
            }
            for place, row in enumerate(rows)
        ],
        "totals": {
            name.replace(" ", "_"): _total_data(size)
            for name, size in found.totals(found.parameters).items()
        },
    }


def _total_data(size: Formula) -> dict[str, Any]:
    return {"formula": formula_data(size), "bytes": None if size.symbols else size()}


def _number(value: int | sympy.Symbol) -> int | str:
    return value if isinstance(value, int) else str(value)
