"""Blocks: the parts that layers are composed of."""

from membill_specs.blocks.attention import (
    eager_attention,
    eager_float32_attention,
    flash,
    identity,
    math_attention,
    soft_cap,
)
from membill_specs.blocks.experts import gated_experts, sigmoid_router, softmax_router
from membill_specs.blocks.latent import latent_attention
from membill_specs.blocks.mlp import (
    eager_geglu,
    eager_swiglu,
    fast_gelu,
    fused_gelu,
    fused_swiglu,
    gated_mlp,
    gelu_by_tanh,
    gelu_mlp,
)
from membill_specs.blocks.norm import (
    fused_rms_norm,
    gemma_rms_norm,
    hugging_face_rms_norm,
    olmo_rms_norm,
    per_head,
)
from membill_specs.blocks.projection import (
    fused_qkv,
    rotary_attention,
    rotated,
    rotated_in_float32,
)

__all__ = [
    "eager_attention",
    "eager_float32_attention",
    "eager_geglu",
    "eager_swiglu",
    "fast_gelu",
    "flash",
    "fused_gelu",
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
    "latent_attention",
    "math_attention",
    "olmo_rms_norm",
    "per_head",
    "rotary_attention",
    "rotated",
    "rotated_in_float32",
    "sigmoid_router",
    "soft_cap",
    "softmax_router",
]
