"""Optimizers that keep less than a number for each parameter, by the shape of its weight."""

import sympy

from membill.spec import FLOAT32, Recipe, State, Weight
from membill_specs.recipes.states import FIRST, MIXED, MOMENTUM, elsewhere, in_layers

PER_HEAD = ("q.weight", "k.weight")
PER_ROW = ("tokens.weight", "segments.weight", "positions.weight")


def rows_and_columns(weight: Weight) -> sympy.Expr:
    """A statistic for each row and each column of every matrix; a vector's entries all have one."""
    return weight.stack * (weight.rows + weight.columns) if weight.matrix else weight.entries


def blocks(weight: Weight) -> sympy.Expr:
    """A number for each block of Adam-mini.

    A matrix has a block for each output neuron, those of queries and keys one for each head, an
    embedding one for each row. A bias keeps a number for each entry, a gain one in all.
    """
    if not weight.matrix:
        return weight.entries if weight.label.endswith("bias") else sympy.Integer(1)
    if weight.label.endswith(PER_HEAD):
        return weight.groups
    return weight.rows if weight.label in PER_ROW else weight.stack * weight.columns


RECIPES = (
    Recipe(
        "adafactor",
        "Adafactor",
        (*MIXED, State("second moment", "moments", FLOAT32, of=rows_and_columns)),
        "No first moment. Of a matrix the mean squares of rows and columns are kept, of a vector"
        " all. Experts are a matrix each. Statistics are float32, as transformers' Adafactor"
        " keeps them; torch.optim.Adafactor keeps them in the dtype of the gradient.",
        "Shazeer and Stern 2018; transformers.Adafactor; torch.optim.Adafactor",
        use="The second moments of Adam do not fit, and a schedule of its own is acceptable.",
    ),
    Recipe(
        "adam-mini",
        "Adam-mini",
        (*MIXED, FIRST, State("second moment", "moments", FLOAT32, of=blocks)),
        "One second moment for each block: queries and keys have a block for each head, other"
        " matrices for each output neuron (so has a fused projection), embedding and head for"
        " each token, the gain of a norm one in all. Biases keep Adam's.",
        "Zhang et al. 2024, Adam-mini: Use Fewer Learning Rates To Gain More; adam-mini 1.1.1",
        use="In the place of Adam, at its own learning rate, with half of its moments.",
    ),
    Recipe(
        "muon",
        "Muon, with Adam elsewhere",
        (
            *MIXED,
            State(MOMENTUM.name, "moments", FLOAT32, of=in_layers),
            State("first moment", "moments", FLOAT32, of=elsewhere),
            State("second moment", "moments", FLOAT32, of=elsewhere),
        ),
        "One momentum for the matrices of layers, whose update is made orthogonal; Adam for the"
        " embedding, the head and all vectors.",
        "Jordan et al. 2024; Liu et al. 2025, Muon is Scalable for LLM Training; torch.optim.Muon",
        use="Training from the start, with fewer steps than Adam at the same loss.",
    ),
)
