"""A whole model layer by layer, from the batch to the loss, as one function to trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import cycle, islice

from membill import printer
from membill.errors import InputError
from membill.models import Model
from membill.parts import Part
from membill.tensor import Tensor
from membill.tracing import scope


def order(model: Model, sizes: Mapping[str, int]) -> tuple[Part, ...]:
    """Every layer of a model in order.

    sizes: numbers by letter, such as that of layers; a pattern that they cut short ends early.
    Raises InputError for a letter without one, and for fewer layers than none.
    """
    found: list[Part] = []
    for group in model.groups:
        times = group[0].times * len(group)
        number = times.subs(
            {letter: sizes.get(letter.name, letter) for letter in times.free_symbols}
        )
        if not number.is_Integer:
            raise InputError(f"model {model.name!r}: no value for {printer.text(number)}")
        if number < 0:
            raise InputError(f"model {model.name!r}: {printer.text(times)} = {number} layers")
        found.extend(islice(cycle(group), int(number)))
    return tuple(found)


def unrolled(model: Model, sizes: Mapping[str, int]) -> Callable[[], Tensor]:
    """The function of a whole model: its start, every layer in a scope of its own, its end.

    sizes: as in `order`. It takes nothing and gives what the end gives, inside a trace. What an
    adapter puts into layers is not in it.
    """
    layers = order(model, sizes)

    def run() -> Tensor:
        x = model.start.layer.run()
        for number, part in enumerate(layers):
            with scope(f"layer_{number}"):
                x = part.layer.run(x)
        return model.end.layer.run(x)

    return run
