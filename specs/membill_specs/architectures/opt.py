"""OPT."""

from membill.spec import Slot, architecture, repeat
from membill.symbols import L
from membill_specs.blocks.embedding import tokens_and_padded_positions
from membill_specs.blocks.loss import LOGITS, OUTPUT, layer_norm_head

architecture(
    "opt",
    title="OPT",
    source="Zhang et al. 2022; transformers 5.24, OPTForCausalLM",
    start=tokens_and_padded_positions,
    layers=[repeat(L, Slot("opt", cache="multi-head"))],
    end=layer_norm_head,
    tied=LOGITS,
    output=OUTPUT,
)
