"""Qwen2: with full attention, and with a sliding window in its later layers."""

from membill.spec import Slot, architecture, repeat
from membill.symbols import L, L_f
from membill_specs.blocks.embedding import rotary_tokens
from membill_specs.blocks.loss import LOGITS, OUTPUT, rms_norm_head

architecture(
    "qwen2",
    title="Qwen2",
    source="Yang et al. 2024; transformers 5.24, Qwen2ForCausalLM",
    start=rotary_tokens,
    layers=[repeat(L, Slot("qwen2", cache="grouped-query"))],
    end=rms_norm_head,
    tied=LOGITS,
    output=OUTPUT,
)

architecture(
    "qwen2_window",
    title="Qwen2 with a sliding window",
    source="Yang et al. 2024; transformers 5.24, Qwen2ForCausalLM",
    start=rotary_tokens,
    layers=[
        repeat(L_f, Slot("qwen2", cache="grouped-query")),
        repeat(L - L_f, Slot("qwen2", cache="sliding-window")),
    ],
    end=rms_norm_head,
    tied=LOGITS,
    output=OUTPUT,
)
