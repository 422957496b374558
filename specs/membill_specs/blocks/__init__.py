"""Blocks: the parts that layers are composed of."""

from membill_specs.blocks.attention import (
    eager_attention,
    eager_float32_attention,
    flash,
    identity,
    math_attention,
    soft_cap,
)
from membill_specs.blocks.experts import gated_experts, softmax_router
from membill_specs.blocks.mlp import (
    eager_geglu,
    eager_swiglu,
    fused_swiglu,
    gated_mlp,
    gelu_by_tanh,
    gelu_mlp,
)
from membill_specs.blocks.norm import (
    fused_rms_norm,
    gemma_rms_norm,
    hugging_face_rms_norm,
    per_head,
)
from membill_specs.blocks.projection import fused_qkv, rotary_attention, rotated

__all__ = [
    "eager_attention",
    "eager_float32_attention",
    "eager_geglu",
    "eager_swiglu",
    "flash",
    "fused_qkv",
    "fused_rms_norm",
    "fused_swiglu",
    "gated_experts",
    "gated_mlp",
    "gelu_by_tanh",
    "gelu_mlp",
    "gemma_rms_norm",
    "hugging_face_rms_norm",
    "identity",
    "math_attention",
    "per_head",
    "rotary_attention",
    "rotated",
    "soft_cap",
    "softmax_router",
]
