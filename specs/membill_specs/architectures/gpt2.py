"""GPT-2."""

from membill.spec import Slot, architecture, repeat
from membill.symbols import L
from membill_specs.blocks.embedding import tokens_and_positions
from membill_specs.blocks.loss import LOGITS, OUTPUT, layer_norm_head

architecture(
    "gpt2",
    title="GPT-2",
    source="Radford et al. 2019; transformers 5.24, GPT2LMHeadModel",
    start=tokens_and_positions,
    layers=[repeat(L, Slot("gpt2", cache="multi-head"))],
    end=layer_norm_head,
    tied=LOGITS,
    output=OUTPUT,
)
