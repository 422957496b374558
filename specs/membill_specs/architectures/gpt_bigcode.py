"""StarCoder."""

from membill.spec import BOOL, Slot, Tensor, architecture, buffer, repeat
from membill.symbols import L, P
from membill_specs.blocks.embedding import tokens_and_positions
from membill_specs.blocks.loss import LOGITS, OUTPUT, layer_norm_head


def masked_tokens_and_positions(*, dropout: bool = True) -> Tensor:
    """The embeddings of each token and of each position, added; then dropout.

    As transformers 5.24's GPTBigCodeModel, which holds a causal mask of all positions.
    """
    buffer("mask", P, P, dtype=BOOL)
    return tokens_and_positions(dropout=dropout)


architecture(
    "gpt_bigcode",
    title="GPTBigCode",
    source="Li et al. 2023, StarCoder; transformers 5.24, GPTBigCodeForCausalLM",
    start=masked_tokens_and_positions,
    layers=[repeat(L, Slot("gpt_bigcode", cache="multi-query"))],
    end=layer_norm_head,
    tied=LOGITS,
    output=OUTPUT,
)
