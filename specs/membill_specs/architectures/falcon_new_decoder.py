"""Falcon 40B and 180B."""

from membill.spec import Slot, architecture, repeat
from membill.symbols import L
from membill_specs.blocks.embedding import rotary_tokens
from membill_specs.blocks.loss import LOGITS, OUTPUT, layer_norm_head

architecture(
    "falcon_new_decoder",
    title="Falcon, new decoder architecture",
    source="Almazrouei et al. 2023; transformers 5.24, FalconForCausalLM",
    start=rotary_tokens,
    layers=[repeat(L, Slot("falcon_new_decoder", cache="grouped-query"))],
    end=layer_norm_head,
    tied=LOGITS,
    output=OUTPUT,
)
