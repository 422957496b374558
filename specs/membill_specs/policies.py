"""Recomputation policies by name, beyond the engine's own `none` and `full`."""

from membill.spec import Policy, register

SELECTIVE = Policy(
    "selective",
    ("attention.core",),
    "Run the attention core again: scores, softmax, dropout and the product with the values.",
    "Korthikanti et al. 2022, section 5",
)

register(SELECTIVE)
