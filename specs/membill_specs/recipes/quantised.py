"""Frozen weights in four bits."""

from membill.spec import FLOAT32, INT4, INT8, Constants, Recipe, State

BLOCK, BLOCKS = 64, 256

RECIPES = (
    Recipe(
        "nf4-frozen",
        "Frozen 4-bit weights",
        (
            State(
                "weights",
                "weights",
                INT4,
                (Constants(BLOCK, INT8), Constants(BLOCK * BLOCKS, FLOAT32)),
            ),
        ),
        "NormalFloat weights that take no gradient. Each block has an 8-bit constant, and each"
        " block of constants a float32 one: double quantisation.",
        "Dettmers et al. 2023, QLoRA, section 3",
    ),
)
