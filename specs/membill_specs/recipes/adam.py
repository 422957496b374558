"""Adam and AdamW, which keep the same, in several precisions."""

from membill.spec import COMPUTE, FLOAT32, INT8, Constants, Recipe, Small, State
from membill_specs.recipes.states import FIRST, GRADIENTS, MASTER, MIXED, ROOTS, SECOND, WEIGHTS

BLOCK, LEAST = 2048, 4096

QUANTISED = (
    State(name, "moments", INT8, (Constants(BLOCK, FLOAT32),), small=Small(LEAST, FLOAT32))
    for name in (FIRST.name, SECOND.name)
)

RECIPES = (
    Recipe(
        "adam-fp32",
        "Adam in float32",
        (
            State("weights", "weights", FLOAT32),
            State("gradients", "gradients", FLOAT32),
            FIRST,
            SECOND,
        ),
        "Everything in float32; no master copy is needed.",
        "Kingma and Ba 2015",
        use="Small models, and a reference for all else. torch.optim.AdamW on a float32 model keeps"
        " this, and a counter for each tensor, on the host unless it runs fused.",
        step=(ROOTS,),
    ),
    Recipe(
        "adam-mixed",
        "Adam in mixed precision",
        (*MIXED, FIRST, SECOND),
        "16-bit weights and gradients, a float32 master copy and float32 moments. The update is a"
        " fused kernel, as in Apex, DeepSpeed and Megatron-LM, which makes nothing besides.",
        "Micikevicius et al. 2018; Rajbhandari et al. 2020, section 3.1",
        use="The usual choice for training a large model from the start. torch.autocast keeps the"
        " float32 weights alone, makes 16-bit copies as it goes, and takes as much.",
        usual=True,
    ),
    Recipe(
        "adam-mixed-fp32-grads",
        "Adam in mixed precision, float32 gradients",
        (WEIGHTS, State("gradients", "gradients", FLOAT32), MASTER, FIRST, SECOND),
        "As mixed precision, but gradients are accumulated in float32.",
        "Megatron-LM, distributed optimizer",
        use="Many micro-batches in a step, or many devices whose gradients are added up.",
    ),
    Recipe(
        "adam-8bit",
        "8-bit Adam",
        (*MIXED, *QUANTISED),
        "Moments in 8 bits, with a float32 constant for each block of entries; those of a small"
        " tensor stay in float32. Later bitsandbytes has shorter blocks.",
        "Dettmers et al. 2022, 8-bit Optimizers via Block-wise Quantization; bitsandbytes",
        use="Fine-tuning where the moments would not fit. Hugging Face's Trainer keeps those of the"
        " embedding in float32 besides, which is not counted here.",
    ),
    Recipe(
        "adam-bf16",
        "Adam in pure bfloat16",
        (
            WEIGHTS,
            GRADIENTS,
            *(State(each.name, each.kind, COMPUTE) for each in (FIRST, SECOND)),
        ),
        "No master copy: needs stochastic rounding or Kahan summation, or small updates vanish.",
        "Zamirai et al. 2020, Revisiting BFloat16 Training",
        use="Short fine-tuning with large updates, or a library that rounds stochastically."
        " torch.optim.AdamW on a bfloat16 model keeps this.",
        step=(State(ROOTS.name, ROOTS.kind, COMPUTE),),
    ),
)
