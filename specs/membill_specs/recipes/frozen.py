"""Frozen weights, alone and with adapters that are trained."""

from membill.spec import COMPUTE, FLOAT32, INT4, INT8, Constants, Recipe, State
from membill_specs.recipes.states import FIRST, MIXED, SECOND, elsewhere, in_layers

BLOCK, BLOCKS = 64, 256

DOUBLE = (Constants(BLOCK, INT8), Constants(BLOCK * BLOCKS, FLOAT32))
"""A constant for each block of weights in 8 bits, one for each block of these in float32."""

ADAPTERS = (*MIXED, FIRST, SECOND)

RECIPES = (
    Recipe(
        "nf4-frozen",
        "Frozen 4-bit weights",
        (State("weights", "weights", INT4, DOUBLE),),
        "NormalFloat weights that take no gradient. Each block has an 8-bit constant, and each"
        " block of constants a float32 one: double quantisation.",
        "Dettmers et al. 2023, QLoRA, section 3",
        use="Weights that are only read. For a model with adapters, use qlora.",
    ),
    Recipe(
        "lora",
        "LoRA",
        ADAPTERS,
        "Frozen 16-bit weights; adapters under Adam in mixed precision. PEFT makes adapters in"
        " float32 unless told, without a master copy, and they take as much.",
        "Hu et al. 2021, LoRA; peft",
        frozen=(State("frozen weights", "weights", COMPUTE),),
        use="Fine-tuning where the weights fit but not their gradients and moments.",
    ),
    Recipe(
        "qlora",
        "QLoRA",
        ADAPTERS,
        "Frozen matrices of layers in 4-bit NormalFloat with double quantisation, all other frozen"
        " weights in 16 bits; adapters under Adam in mixed precision.",
        "Dettmers et al. 2023, QLoRA, section 3",
        frozen=(
            State("frozen 4-bit weights", "weights", INT4, DOUBLE, of=in_layers),
            State("frozen weights", "weights", COMPUTE, of=elsewhere),
        ),
        use="Fine-tuning where 16-bit weights do not fit.",
    ),
)
