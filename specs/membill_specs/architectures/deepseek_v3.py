"""DeepSeek-V3, without its module for multi-token prediction."""

from membill.spec import Slot, Tensor, architecture, repeat
from membill.symbols import L, L_d, d_r
from membill_specs.blocks.embedding import frequencies, tokens
from membill_specs.blocks.loss import LOGITS, OUTPUT, rms_norm_head


def partly_rotated_tokens() -> Tensor:
    """The embedding of each token; the layers rotate a part of each head by position."""
    frequencies(d_r)
    return tokens()


architecture(
    "deepseek_v3",
    title="DeepSeek-V3",
    source="DeepSeek-AI 2024, DeepSeek-V3; transformers 5.24, DeepseekV3ForCausalLM",
    start=partly_rotated_tokens,
    layers=[
        repeat(L_d, Slot("deepseek_v3_dense", cache="latent")),
        repeat(L - L_d, Slot("deepseek_v3", cache="latent")),
    ],
    end=rms_norm_head,
    tied=LOGITS,
    output=OUTPUT,
)
