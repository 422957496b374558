"""Mixtral: with full attention, and with a sliding window."""

from membill.spec import Slot, architecture, repeat
from membill.symbols import L
from membill_specs.blocks.embedding import rotary_tokens
from membill_specs.blocks.loss import LOGITS, OUTPUT, rms_norm_head

architecture(
    "mixtral",
    title="Mixtral",
    source="Jiang et al. 2024; transformers 5.24, MixtralForCausalLM",
    start=rotary_tokens,
    layers=[repeat(L, Slot("mixtral", cache="grouped-query"))],
    end=rms_norm_head,
    tied=LOGITS,
    output=OUTPUT,
)

architecture(
    "mixtral_window",
    title="Mixtral with a sliding window",
    source="Jiang et al. 2024; transformers 5.24, MixtralForCausalLM",
    start=rotary_tokens,
    layers=[repeat(L, Slot("mixtral", cache="sliding-window"))],
    end=rms_norm_head,
    tied=LOGITS,
    output=OUTPUT,
)
