"""Mistral: with full attention, and with the sliding window of its first version."""

from membill.spec import Slot, architecture, repeat
from membill.symbols import L
from membill_specs.blocks.embedding import rotary_tokens
from membill_specs.blocks.loss import LOGITS, OUTPUT, rms_norm_head

architecture(
    "mistral",
    title="Mistral",
    source="Jiang et al. 2023; transformers 5.24, MistralForCausalLM",
    start=rotary_tokens,
    layers=[repeat(L, Slot("mistral", cache="grouped-query"))],
    end=rms_norm_head,
    tied=LOGITS,
    output=OUTPUT,
)

architecture(
    "mistral_window",
    title="Mistral with a sliding window",
    source="Jiang et al. 2023, section 2; transformers 5.24, MistralForCausalLM",
    start=rotary_tokens,
    layers=[repeat(L, Slot("mistral", cache="sliding-window"))],
    end=rms_norm_head,
    tied=LOGITS,
    output=OUTPUT,
)
