"""Formulas as papers print them: citations, the one file in which totals are typed.

Nothing is derived from them. Each names what it is of, so that a page can set the derived formula
beside it.
"""

import sympy

from membill.spec import InFlight, OfLayer, OfStates, Published, register
from membill.symbols import N, N_d, T, b, d, d_ff, d_k, h, i, n_kv, p, t, v

KORTHIKANTI = "Korthikanti et al. 2022, Reducing Activation Recomputation"
TABLE = f"{KORTHIKANTI}, Table 2"
SECTION = f"{KORTHIKANTI}, section 4.1"
ZERO = "Rajbhandari et al. 2020, ZeRO, Figure 1 and Table 1"

register(
    Published(
        "gpt-none",
        "GPT layer, nothing recomputed",
        TABLE,
        T * b * d * (34 + 5 * h * T / d),
        OfLayer("gpt"),
    ),
    Published(
        "gpt-attention",
        "Attention block",
        SECTION,
        11 * T * b * d + 5 * h * T**2 * b,
        OfLayer("gpt", scope="attention"),
    ),
    Published("gpt-mlp", "MLP", SECTION, 19 * T * b * d, OfLayer("gpt", scope="mlp")),
    Published(
        "gpt-norms", "Two layer norms", SECTION, 4 * T * b * d, OfLayer("gpt", scope="norms")
    ),
    Published(
        "gpt-tp",
        "Tensor parallelism",
        TABLE,
        T * b * d * (10 + 24 / t + 5 * h * T / (d * t)),
        OfLayer("gpt", settings={"tp": t}),
    ),
    Published(
        "gpt-tp-sp",
        "Tensor and sequence parallelism",
        TABLE,
        T * b * d / t * (34 + 5 * h * T / d),
        OfLayer("gpt", settings={"tp": t, "sp": True}),
    ),
    Published(
        "gpt-tp-selective",
        "Tensor parallelism, selective recomputation",
        TABLE,
        T * b * d * (10 + 24 / t),
        OfLayer("gpt", settings={"tp": t, "recompute": "selective"}),
    ),
    Published(
        "gpt-tp-sp-selective",
        "Tensor and sequence parallelism, selective recomputation",
        TABLE,
        34 * T * b * d / t,
        OfLayer("gpt", settings={"tp": t, "sp": True, "recompute": "selective"}),
    ),
    Published(
        "gpt-full",
        "Full recomputation",
        TABLE,
        2 * T * b * d,
        OfLayer("gpt", settings={"tp": t, "recompute": "full"}),
    ),
    Published(
        "gpt-flash",
        "GPT layer with a fused attention kernel: q, k, v, output, log-sum-exp",
        "Dao et al. 2022, FlashAttention",
        34 * T * b * d + 4 * h * T * b,
        OfLayer("gpt", {"attention": "flash"}),
    ),
    Published(
        "gpt-float32",
        "GPT layer in float32, masks of one byte",
        "Hugging Face documentation, Anatomy of model's memory",
        66 * T * b * d + 9 * h * T**2 * b,
        OfLayer("gpt", settings={"dtype_bytes": 4}),
    ),
    Published(
        "llama",
        "Llama layer, plain operations, fused attention, no dropout",
        "Touvron et al. 2023, counted op by op",
        8 * T * b * d
        + 4 * T * b * h * d_k
        + 4 * T * b * n_kv * d_k
        + 4 * h * T * b
        + 8 * T * b * d_ff,
        OfLayer("llama", specialise=False),
    ),
    Published(
        "adam-fp32",
        "Adam in float32, a parameter",
        "Kingma and Ba 2015, in float32",
        16 * N,
        OfStates("adam-fp32"),
    ),
    Published(
        "adam-mixed",
        "Adam in mixed precision",
        "Rajbhandari et al. 2020, section 3.1",
        16 * N,
        OfStates("adam-mixed"),
    ),
    Published(
        "adam-mixed-fp32-grads",
        "Adam in mixed precision, float32 gradients",
        "Megatron-LM, distributed optimizer",
        18 * N,
        OfStates("adam-mixed-fp32-grads"),
    ),
    Published(
        "adam-8bit",
        "8-bit Adam",
        "Dettmers et al. 2022, 8-bit Optimizers",
        10 * N + 2 * 4 * sympy.ceiling(N / 2048),
        OfStates("adam-8bit"),
    ),
    Published(
        "adam-bf16", "Adam in pure bfloat16", "Zamirai et al. 2020", 8 * N, OfStates("adam-bf16")
    ),
    Published(
        "zero-1",
        "Optimizer states divided",
        ZERO,
        4 * N + 12 * N / N_d,
        OfStates("adam-mixed", "zero", 1),
    ),
    Published(
        "zero-2",
        "and gradients",
        ZERO,
        2 * N + (2 + 12) * N / N_d,
        OfStates("adam-mixed", "zero", 2),
    ),
    Published(
        "zero-3",
        "and weights",
        ZERO,
        16 * N / N_d,
        OfStates("adam-mixed", "zero", 3),
    ),
    Published(
        "1f1b",
        "Micro-batches in flight, 1F1B",
        "Narayanan et al. 2019, PipeDream",
        p - i,
        InFlight("1f1b"),
    ),
    Published(
        "interleaved",
        "First stage, interleaved over plain 1F1B",
        f"{KORTHIKANTI}, pipeline parallelism",
        1 + (p - 1) / (p * v),
        InFlight("interleaved", sympy.Integer(0), beside="1f1b"),
    ),
    Published(
        "zb-h1",
        "Micro-batches in flight, zero-bubble schedule with the memory of 1F1B",
        "Qi et al. 2023, section 2.3",
        p,
        InFlight("zb-h1"),
    ),
)
