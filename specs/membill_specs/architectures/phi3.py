"""Phi-3: with full attention, and with the sliding window of its first versions."""

from membill.spec import Slot, architecture, repeat
from membill.symbols import L
from membill_specs.blocks.embedding import rotary_tokens
from membill_specs.blocks.loss import LOGITS, OUTPUT, rms_norm_head

architecture(
    "phi3",
    title="Phi-3",
    source="Abdin et al. 2024; transformers 5.24, Phi3ForCausalLM",
    start=rotary_tokens,
    layers=[repeat(L, Slot("phi3", cache="grouped-query"))],
    end=rms_norm_head,
    tied=LOGITS,
    output=OUTPUT,
)

architecture(
    "phi3_window",
    title="Phi-3 with a sliding window",
    source="Abdin et al. 2024; transformers 5.24, Phi3ForCausalLM",
    start=rotary_tokens,
    layers=[repeat(L, Slot("phi3", cache="sliding-window"))],
    end=rms_norm_head,
    tied=LOGITS,
    output=OUTPUT,
)
