"""Falcon."""

from membill.spec import Slot, architecture, repeat
from membill.symbols import L
from membill_specs.blocks.embedding import rotary_tokens
from membill_specs.blocks.loss import LOGITS, OUTPUT, layer_norm_head

architecture(
    "falcon",
    title="Falcon",
    source="Almazrouei et al. 2023; transformers 5.24, FalconForCausalLM",
    start=rotary_tokens,
    layers=[repeat(L, Slot("falcon", cache="multi-query"))],
    end=layer_norm_head,
    tied=LOGITS,
    output=OUTPUT,
)
