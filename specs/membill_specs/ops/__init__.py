"""Operations: each states, for every gradient, the tensors that its formula mentions."""

from membill_specs.ops.activation import gelu, silu, swiglu
from membill_specs.ops.attention import attention_context, attention_scores, flash_attention, rotary
from membill_specs.ops.dropout import dropout
from membill_specs.ops.elementwise import add, cast, multiply, rsqrt, scale, square
from membill_specs.ops.linear import linear
from membill_specs.ops.norm import layer_norm, rms_norm
from membill_specs.ops.reduce import mean
from membill_specs.ops.shape import repeat_heads
from membill_specs.ops.softmax import softmax

__all__ = [
    "add",
    "attention_context",
    "attention_scores",
    "cast",
    "dropout",
    "flash_attention",
    "gelu",
    "layer_norm",
    "linear",
    "mean",
    "multiply",
    "repeat_heads",
    "rms_norm",
    "rotary",
    "rsqrt",
    "scale",
    "silu",
    "softmax",
    "square",
    "swiglu",
]
