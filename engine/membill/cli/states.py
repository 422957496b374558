"""`membill states RECIPE`: what is kept of each parameter, in all and on one device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click
import sympy

from membill import registry
from membill.cli.kept import States, as_data, described, sections
from membill.cli.output import write, write_json
from membill.cli.per_layer import Choice
from membill.cli.values import amount_or_symbol, assignment, symbol_or_count
from membill.errors import InputError
from membill.finding import model as named_model
from membill.models import Model
from membill.recipe import Partition, Recipe, divided_at
from membill.symbols import N, N_d


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
@click.option(
    "--model",
    type=Choice(registry.known().shapes),
    metavar="NAME",
    help="Take the weights of a model, by their shapes, instead of a number of parameters.",
)
@click.option("--adapt", metavar="NAME", help="Put an adapter in the model's layers.")
@click.option("--on", multiple=True, metavar="OP|SCOPE,...", help="Where to put the adapter.")
@click.option(
    "--set", "assignments", multiple=True, metavar="NAME=VALUE", help="An adapter's rank: r=8."
)
@click.option("--json", is_flag=True, help="Print everything as JSON.")
def states(
    *,
    recipe: str,
    parameters: str | None,
    dp: str | None,
    model: str | None,
    adapt: str | None,
    on: Sequence[str],
    assignments: Sequence[str],
    json: bool,
    **stages: str | None,
) -> None:
    """Show what a training recipe keeps of each parameter.

    RECIPE is one of those that `membill list` names.
    """
    found = States(
        registry.find(Recipe, recipe),
        N if parameters is None else amount_or_symbol("-N", parameters),
        {name: partition_stage(name, given) for name, given in stages.items() if given is not None},
        _devices(dp, stages),
        _model(model, adapt, on),
        dict(map(assignment, assignments)),
    )
    _check(found, parameters)
    if json:
        write_json(as_data(found))
    else:
        write((found.recipe.title, described(found)), sections(found))


def _model(name: str | None, adapter: str | None, on: Sequence[str]) -> Model | None:
    places = tuple(place.strip() for each in on for place in each.split(","))
    if adapter is None and places:
        raise InputError(f"--on {','.join(places)}: give --adapt NAME with it")
    if adapter is not None and not (name and places):
        raise InputError(f"--adapt {adapter}: give --model and --on with it")
    if name is None:
        return None
    found = named_model(name)
    return found if adapter is None else found.adapt(adapter, places)


def _check(found: States, parameters: str | None) -> None:
    """InputError for what does not go together."""
    if found.model is not None and parameters is not None:
        raise InputError(f"-N {parameters}: --model {found.model.name} has its own number")
    if found.model is None and found.given:
        raise InputError("--set gives letters of a model: give --model NAME with it")
    if found.open and (parameters is not None or found.devices is not None):
        raise InputError(
            f"recipe {found.recipe.name!r} keeps {', '.join(found.recipe.shaped)} by the shapes of "
            "weights, not by their number: give --model NAME"
        )


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
