"""Blocks: the parts that layers are composed of."""

from membill_specs.blocks.attention import eager_attention, flash, identity
from membill_specs.blocks.mlp import eager_swiglu, fused_swiglu, gelu_mlp, swiglu_mlp
from membill_specs.blocks.norm import fused_rms_norm, hugging_face_rms_norm

__all__ = [
    "eager_attention",
    "eager_swiglu",
    "flash",
    "fused_rms_norm",
    "fused_swiglu",
    "gelu_mlp",
    "hugging_face_rms_norm",
    "identity",
    "swiglu_mlp",
]
