"""Qwen3 with experts."""

from membill.spec import Slot, architecture, repeat
from membill.symbols import L
from membill_specs.blocks.embedding import rotary_tokens
from membill_specs.blocks.loss import LOGITS, OUTPUT, rms_norm_head

architecture(
    "qwen3_moe",
    title="Qwen3 MoE",
    source="Yang et al. 2025; transformers 5.24, Qwen3MoeForCausalLM",
    start=rotary_tokens,
    layers=[repeat(L, Slot("qwen3_moe", cache="grouped-query"))],
    end=rms_norm_head,
    tied=LOGITS,
    output=OUTPUT,
)
