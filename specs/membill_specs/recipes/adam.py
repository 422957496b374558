"""Adam in several precisions."""

from membill.spec import COMPUTE, FLOAT32, INT8, Constants, DType, Recipe, State

BLOCK = 2048


def _moments(dtype: DType, *constants: Constants) -> tuple[State, State]:
    first, second = "first moment", "second moment"
    return State(first, "moments", dtype, constants), State(second, "moments", dtype, constants)


WEIGHTS, GRADIENTS = State("weights", "weights", COMPUTE), State("gradients", "gradients", COMPUTE)
MASTER = State("master copy", "master", FLOAT32)

RECIPES = (
    Recipe(
        "adam-fp32",
        "Adam in float32",
        (
            State("weights", "weights", FLOAT32),
            State("gradients", "gradients", FLOAT32),
            *_moments(FLOAT32),
        ),
        "Everything in float32; no master copy is needed.",
        "Kingma and Ba 2015",
    ),
    Recipe(
        "adam-mixed",
        "Adam in mixed precision",
        (WEIGHTS, GRADIENTS, MASTER, *_moments(FLOAT32)),
        "16-bit weights and gradients, a float32 master copy and float32 moments.",
        "Micikevicius et al. 2018; Rajbhandari et al. 2020, section 3.1",
    ),
    Recipe(
        "adam-mixed-fp32-grads",
        "Adam in mixed precision, float32 gradients",
        (WEIGHTS, State("gradients", "gradients", FLOAT32), MASTER, *_moments(FLOAT32)),
        "As mixed precision, but gradients are accumulated in float32.",
        "Megatron-LM, distributed optimizer",
    ),
    Recipe(
        "adam-8bit",
        "8-bit Adam",
        (WEIGHTS, GRADIENTS, MASTER, *_moments(INT8, Constants(BLOCK, FLOAT32))),
        "Moments in 8 bits, with a float32 constant for each block of entries.",
        "Dettmers et al. 2022, 8-bit Optimizers via Block-wise Quantization",
    ),
    Recipe(
        "adam-bf16",
        "Adam in pure bfloat16",
        (WEIGHTS, GRADIENTS, *_moments(COMPUTE)),
        "No master copy: needs stochastic rounding or Kahan summation, or small updates vanish.",
        "Zamirai et al. 2020, Revisiting BFloat16 Training",
    ),
)
