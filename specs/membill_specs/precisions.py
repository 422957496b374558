"""Precisions: which ops run in which dtype.

Under autocast the cast of a weight is made once, and is kept until backward is done with it. It is
one more for each micro-batch in flight if each has an autocast context of its own.
"""

from membill.spec import COMPUTE, FLOAT32, Precision, register
from membill_specs.ops import cast

PRODUCTS = ("linear", "attention_scores", "attention_context", "flash_attention")
IN_FLOAT32 = ("softmax", "layer_norm", "rms_norm")

AUTOCAST = Precision(
    "autocast",
    stored=FLOAT32,
    runs={**dict.fromkeys(PRODUCTS, COMPUTE), **dict.fromkeys(IN_FLOAT32, FLOAT32)},
    cast=cast,
    summary="Parameters and residual stream in float32; products cast what they take to 16 bits.",
    source="PyTorch autocast_mode.h: lists of a GPU; a CPU leaves softmax and norms as they come",
)

register(AUTOCAST)
