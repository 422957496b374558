"""GPT-3."""

from membill.spec import Slot, architecture, repeat
from membill.symbols import L
from membill_specs.blocks.embedding import tokens_and_positions
from membill_specs.blocks.loss import LOGITS, OUTPUT, layer_norm_head

architecture(
    "gpt",
    title="GPT-3",
    source="Brown et al. 2020; Korthikanti et al. 2022, section 4.3",
    start=tokens_and_positions,
    layers=[repeat(L, Slot("gpt", cache="multi-head"))],
    end=layer_norm_head,
    tied=LOGITS,
    output=OUTPUT,
)
