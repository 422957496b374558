"""Number formats of inference: entries of the cache, and weights with the constants of blocks.

Narrow formats take the matrices of layers; vectors, the embedding and the head keep 16 bits.
"""

import sympy

from membill.spec import (
    COMPUTE,
    FLOAT8,
    FLOAT32,
    INT4,
    INT8,
    Constants,
    Format,
    State,
    Weight,
    register,
)

SQUARE, GROUP = 128 * 128, 128


def _narrowed(weight: Weight) -> sympy.Expr:
    return weight.entries if weight.matrix and weight.hidden else sympy.Integer(0)


def _others(weight: Weight) -> sympy.Expr:
    return sympy.Integer(0) if weight.matrix and weight.hidden else weight.entries


def _outputs(weight: Weight) -> sympy.Expr:
    matrix = weight.matrix and weight.hidden
    return weight.stack * weight.columns if matrix else sympy.Integer(0)


OTHERS = State("other weights", "weights", COMPUTE, of=_others)

register(
    Format(
        "bfloat16",
        "bfloat16",
        COMPUTE,
        (State("weights", "weights", COMPUTE),),
        "All weights in 16 bits.",
        "Kalamkar et al. 2019",
    ),
    Format(
        "float8",
        "float8",
        FLOAT8,
        (
            State("matrices", "weights", FLOAT8, (Constants(SQUARE, FLOAT32),), of=_narrowed),
            OTHERS,
        ),
        "Matrices in 8 bits, with a float32 scale for each block of 128 by 128 entries.",
        "DeepSeek-AI 2024, DeepSeek-V3, section 3.3",
    ),
    Format(
        "int8",
        "int8",
        INT8,
        (
            State("matrices", "weights", INT8, of=_narrowed),
            State("scales", "weights", FLOAT32, of=_outputs),
            OTHERS,
        ),
        "Matrices in 8 bits, with a float32 scale for each output.",
        "Dettmers et al. 2022, LLM.int8()",
    ),
    Format(
        "int4",
        "int4",
        INT4,
        (
            State(
                "matrices",
                "weights",
                INT4,
                (Constants(GROUP, COMPUTE), Constants(GROUP, INT4)),
                of=_narrowed,
            ),
            OTHERS,
        ),
        "Matrices in 4 bits, with a 16-bit scale and a 4-bit zero for each group of 128 entries.",
        "Frantar et al. 2022, GPTQ; Lin et al. 2023, AWQ",
    ),
)
