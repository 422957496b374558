"""What the page of the peak shows: moments in groups, the step as a chart, what sets the peak."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from membill import units
from membill.device import GATHERED, OUTPUTS, UPDATE, WORKING
from membill.errors import InputError
from membill.events import BACKWARD, FORWARD, Event
from membill.events import UPDATE as STEP
from membill.formula import Formula
from membill.ledger import total
from membill.outweighing import Outweighing, outweighs
from membill.peak import Peak
from membill.recipe import GRADIENTS, WEIGHTS
from membill.render import charts
from membill.render.colours import KEPT, STATES
from membill.timeline import Point, timeline

GROUPS = (WEIGHTS, STATES, GRADIENTS, KEPT, OUTPUTS, WORKING)


@dataclass(frozen=True)
class Moment:
    """An event with its bytes, in all and by group, as formulas by group."""

    event: Event
    bytes: int
    groups: Mapping[str, Formula]
    largest: bool

    @property
    def always(self) -> Formula:
        """Weights and other states."""
        return total(self.groups[name] for name in (WEIGHTS, STATES) if name in self.groups)

    @property
    def own(self) -> Mapping[str, Formula]:
        """The groups but for weights and other states, which are the same at every moment."""
        return {name: size for name, size in self.groups.items() if name not in (WEIGHTS, STATES)}


def group(peak: Peak, category: str) -> str:
    """The group of a category: an activation, unless it is a state, an output or passing."""
    kinds = {state.name: state.kind for state in peak.bill.recipe.every}
    passing = {GATHERED: WORKING, UPDATE: WORKING, WORKING: WORKING, OUTPUTS: OUTPUTS}
    kept = {WEIGHTS: WEIGHTS, GRADIENTS: GRADIENTS}
    if category in kinds:
        return kept.get(kinds[category], STATES)
    return passing.get(category, KEPT)


def moments(peak: Peak) -> tuple[Moment, ...]:
    """The largest event of each phase, part and place, in order."""
    found = peak.each()
    largest = max(found.values())
    return tuple(
        Moment(event, size, _grouped(peak, event), size == largest) for event, size in found.items()
    )


def _grouped(peak: Peak, event: Event) -> Mapping[str, Formula]:
    groups: dict[str, list[Formula]] = {}
    for entry in event.entries:
        groups.setdefault(group(peak, entry.category), []).append(entry.bytes)
    return {name: total(groups[name]) for name in GROUPS if name in groups}


def step(peak: Peak) -> tuple[tuple[Point, Mapping[str, int]], ...]:
    """Every point of the step, with its bytes by group."""
    return tuple((point, _summed(peak, point.categories)) for point in timeline(peak))


def _summed(peak: Peak, sizes: Mapping[str, int]) -> Mapping[str, int]:
    found = dict.fromkeys(GROUPS, 0)
    for category, size in sizes.items():
        found[group(peak, category)] += size
    return found


def drawn(peak: Peak, alt: str) -> Markup:
    """The step as stacked areas, each phase named where it begins."""
    points = step(peak)
    phases = [point.phase for point, _ in points]
    marks = {phases.index(phase): phase for phase in (FORWARD, BACKWARD, STEP)}
    sizes = [sizes for _, sizes in points]
    return charts.areas(sizes, alt, marks=marks, most=units.gb(peak.bytes), unit="B")


def overtakes(peak: Peak, letters: Iterable[str]) -> Iterator[tuple[Event, Sequence[Outweighing]]]:
    """When the peak exceeds each other moment, by each of some letters that both are linear in.

    Other letters have the values of the peak's bill.
    """
    most, names = peak.event, tuple(letters)
    for other in peak.each():
        found = [c for name in names if (c := _where(most, other, name, peak)) is not None]
        if other is not most and found:
            yield other, found


def _where(most: Event, other: Event, letter: str, peak: Peak) -> Outweighing | None:
    try:
        return outweighs(most, other, letter, **peak.bill.values)
    except InputError:
        return None
