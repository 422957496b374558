"""Pipeline schedules: micro-batches in flight on stage i of p, with v chunks on a stage."""

import sympy

from membill.spec import Condition, Schedule, register
from membill.symbols import i, m, p, v

GPIPE = Schedule(
    "gpipe",
    "GPipe",
    m,
    "All forward passes come first, so every stage holds all micro-batches.",
    "Huang et al. 2019",
    at_end=m,
)
ONE_F_ONE_B = Schedule(
    "1f1b",
    "1F1B",
    sympy.Min(m, p - i),
    "After a warm-up, each forward pass is followed by a backward pass.",
    "Narayanan et al. 2019, PipeDream; 2021, section 2.2",
)
INTERLEAVED = Schedule(
    "interleaved",
    "Interleaved 1F1B",
    sympy.Min(m * v, 2 * (p - i - 1) + (v - 1) * p + 1) / v,
    "Each stage holds v chunks of layers, which shortens the bubble and keeps more in flight.",
    "Narayanan et al. 2021, section 2.2; warm-up as in Megatron-LM",
    at_start=sympy.Min(m, 2 * p),
    conditions=(Condition(p, m),),
)
ZB_H1 = Schedule(
    "zb-h1",
    "Zero-bubble ZB-H1",
    sympy.Min(m, p),
    "Gradients of weights are put off to fill bubbles; every stage holds what the first holds.",
    "Qi et al. 2023, section 2.3",
)

register(GPIPE, ONE_F_ONE_B, INTERLEAVED, ZB_H1)
