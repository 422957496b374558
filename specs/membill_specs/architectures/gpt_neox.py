"""GPT-NeoX."""

from membill.spec import Slot, architecture, repeat
from membill.symbols import L
from membill_specs.blocks.embedding import partly_rotary_tokens
from membill_specs.blocks.loss import LOGITS, OUTPUT, layer_norm_head

architecture(
    "gpt_neox",
    title="GPT-NeoX",
    source="Black et al. 2022; transformers 5.24, GPTNeoXForCausalLM",
    start=partly_rotary_tokens,
    layers=[repeat(L, Slot("gpt_neox", cache="multi-head"))],
    end=layer_norm_head,
    tied=LOGITS,
    output=OUTPUT,
)
