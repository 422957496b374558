"""What textbooks ask for: model states, one layer's activations, the largest micro-batch.

Plain functions over plain numbers. The layer is the one that a spec package declares to be the
textbook's; its formulas come from the same ledger as all others, as papers print them: without
per-token statistics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from membill import registry
from membill.errors import InputError, unknown
from membill.finding import model
from membill.formula import Formula
from membill.growth import checked
from membill.ledger import total
from membill.models import Model
from membill.plans import plan
from membill.recipe import Recipe, model_states
from membill.recompute import NONE, Policy


@dataclass(frozen=True)
class Textbook:
    """The model whose layer textbooks count by: the name of its architecture.

    logits: the label of what its end keeps of the vocabulary's width. kinds: what textbooks call
    the kinds of states. variants: options of the model that they name
    as if they were recomputation policies.
    """

    name: str
    source: str
    logits: str
    kinds: Mapping[str, str] = field(default_factory=dict)
    variants: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def counted(self, recompute: str) -> Formula:
        """Bytes of one layer under a policy or variant of that name; InputError if unknown."""
        options = self.variants.get(recompute, {}) if isinstance(recompute, str) else {}
        policy = NONE if options else _policy(recompute, self.variants)
        [[part]] = self.model(**options).groups
        return part.layer.activations(recompute=policy, statistics=False)

    def of_vocabulary(self) -> Formula:
        """Bytes of the logits."""
        rows = self.model().end.ledger(plan()).entries
        return total(row.bytes for row in rows if row.tensor == self.logits)

    def model(self, **options: str) -> Model:
        """The model, without dimensions."""
        return model(self.name, **options)


def model_state_bytes(N: int | float, recipe: str) -> dict[str, int]:
    """Bytes of weights, gradients, master copy, optimizer and all of these, for N parameters.

    N may be a whole float, as 6.7e9 is. recipe: a recipe's name. A state that the recipe does
    not keep has 0 bytes. Raises InputError for what is not allowed.
    """
    parameters = _whole(N)
    found = dict.fromkeys(_book().kinds.values(), 0)
    for row in model_states(registry.find(Recipe, recipe), parameters):
        name = _book().kinds.get(row.state.kind, row.state.kind)
        found[name] = found.get(name, 0) + int(row.bytes())
    return {**found, "total": sum(found.values())}


def layer_activation_bytes(T: int, b: int, d: int, h: int, recompute: str = NONE.name) -> int:
    """Bytes that one layer keeps for backward, at two bytes an entry.

    T, b, d, h: tokens, sequences, width, heads. recompute: a policy's name ("none", "selective",
    "full"), or "flash". Raises InputError for what is not allowed.
    """
    return int(_book().counted(recompute)(T=T, b=b, d=d, h=h))


def max_micro_batch(  # noqa: PLR0917 (as textbooks list them)
    N: int | float,
    L: int,
    d: int,
    h: int,
    V: int,
    T: int,
    mem_bytes: int,
    recipe: str,
    recompute: str = NONE.name,
) -> int:
    """The most sequences whose layers and logits fit into a device beside all model states.

    L layers, a vocabulary of V, logits in float32; others as above. 0 if not even one fits.
    Raises InputError for what is not allowed.
    """
    checked(L=L, mem_bytes=mem_bytes)
    layers = L * layer_activation_bytes(T, 1, d, h, recompute)
    logits = int(_book().of_vocabulary()(b=1, T=T, V=V))
    left = mem_bytes - model_state_bytes(N, recipe)["total"]
    return max(left, 0) // (layers + logits)


def _book() -> Textbook:
    return next(iter(registry.everything(Textbook).values()))


def _policy(name: object, variants: Mapping[str, object]) -> Policy:
    policies = registry.known().policies
    if not isinstance(name, str) or name not in policies:
        raise unknown("recompute policy", name, [*policies, *variants])
    return policies[name]


def _whole(N: object) -> int:
    """N as an int: published numbers of parameters are written as 6.7e9."""
    if isinstance(N, float) and N.is_integer():
        N = int(N)
    if isinstance(N, bool) or not isinstance(N, int) or N <= 0:
        raise InputError(f"N = {N!r}: give the number of parameters, a whole number > 0")
    return N
