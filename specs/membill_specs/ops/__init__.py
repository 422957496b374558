"""Operations: each states, for every gradient, the tensors that its formula mentions."""

from membill_specs.ops.activation import gelu, relu, sigmoid, silu, swiglu, tanh
from membill_specs.ops.attention import attention_context, attention_scores, flash_attention, rotary
from membill_specs.ops.dropout import dropout
from membill_specs.ops.elementwise import (
    add,
    affine,
    cast,
    cube,
    divide,
    multiply,
    rsqrt,
    scale,
    scale_from_one,
    square,
)
from membill_specs.ops.embedding import embedding
from membill_specs.ops.experts import (
    biased_top_k,
    gather_rows,
    group_ends,
    grouped_linear,
    top_k,
)
from membill_specs.ops.linear import linear
from membill_specs.ops.loss import cross_entropy, cut_cross_entropy, fused_linear_cross_entropy
from membill_specs.ops.norm import layer_norm, rms_norm
from membill_specs.ops.patches import add_rows, first_token, patch_embedding, prepend_row
from membill_specs.ops.reduce import mean, sum_over
from membill_specs.ops.shape import concatenate, copy, part, regroup, repeat_heads, take
from membill_specs.ops.softmax import softmax

__all__ = [
    "add",
    "add_rows",
    "affine",
    "attention_context",
    "attention_scores",
    "biased_top_k",
    "cast",
    "concatenate",
    "copy",
    "cross_entropy",
    "cube",
    "cut_cross_entropy",
    "divide",
    "dropout",
    "embedding",
    "first_token",
    "flash_attention",
    "fused_linear_cross_entropy",
    "gather_rows",
    "gelu",
    "group_ends",
    "grouped_linear",
    "layer_norm",
    "linear",
    "mean",
    "multiply",
    "part",
    "patch_embedding",
    "prepend_row",
    "regroup",
    "relu",
    "repeat_heads",
    "rms_norm",
    "rotary",
    "rsqrt",
    "scale",
    "scale_from_one",
    "sigmoid",
    "silu",
    "softmax",
    "square",
    "sum_over",
    "swiglu",
    "take",
    "tanh",
    "top_k",
]
