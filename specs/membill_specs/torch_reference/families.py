"""Which classes of Hugging Face's are described by which spec, and how they are configured."""

from __future__ import annotations

from typing import Any

from membill.audit.references import add_reference
from membill_specs.torch_reference.hugging_face import Family

USUAL = {
    "hidden_size": "d",
    "num_attention_heads": "h",
    "intermediate_size": "d_ff",
}
GROUPED = {**USUAL, "num_key_value_heads": "n_kv"}
OWN_HEAD_WIDTH = {**GROUPED, "head_dim": "d_k"}
EAGER = {"flash": "sdpa", "eager": "eager"}
EAGER_FLOAT32 = {"flash": "sdpa", "eager-float32": "eager"}


def llama_like(layer: str, shape: str, tokens: int, stem: str, **more: Any) -> Family:
    """A family whose configuration has the fields of Llama's."""
    return Family(
        **{
            "layer": layer,
            "shape": shape,
            "tokens": tokens,
            "model": layer,
            "block": f"{stem}DecoderLayer",
            "config": f"{stem}Config",
            "names": GROUPED,
            "implementations": EAGER_FLOAT32,
            "rotary": f"{stem}RotaryEmbedding",
            **more,
        }
    )


FAMILIES = (
    llama_like("llama", "llama-3-8b", 8192, "Llama", options={"norm": "hugging-face"}),
    llama_like("mistral", "mistral-7b", 8192, "Mistral", fixed={"sliding_window": None}),
    llama_like(
        "mixtral",
        "mixtral-8x7b",
        8192,
        "Mixtral",
        names={
            "hidden_size": "d",
            "num_attention_heads": "h",
            "num_key_value_heads": "n_kv",
            "intermediate_size": "d_e",
            "num_local_experts": "E",
            "num_experts_per_tok": "k",
        },
        fixed={"sliding_window": None, "experts_implementation": "grouped_mm"},
    ),
    llama_like("qwen2", "qwen2.5-7b", 8192, "Qwen2"),
    llama_like("qwen3", "qwen3-4b", 8192, "Qwen3", names=OWN_HEAD_WIDTH),
    llama_like(
        "gemma2",
        "gemma-2-9b",
        8192,
        "Gemma2",
        names=OWN_HEAD_WIDTH,
        # SDPA has no soft cap: with one, Hugging Face wants another kernel than PyTorch's.
        by_attention={"flash": {"attn_logit_softcapping": None}},
    ),
    llama_like(
        "phi3",
        "phi-3-mini",
        4096,
        "Phi3",
        rates=("attention_dropout", "resid_pdrop"),
        fixed={"pad_token_id": 0},
    ),
    Family(
        layer="gpt2",
        shape="gpt-2-124m",
        tokens=1024,
        model="gpt2",
        block="GPT2Block",
        config="GPT2Config",
        names={"n_embd": "d", "n_head": "h", "n_inner": "d_ff"},
        implementations=EAGER,
        rates=("attn_pdrop", "resid_pdrop"),
    ),
    Family(
        layer="gpt_neox",
        shape="gpt-neox-20b",
        tokens=2048,
        model="gpt_neox",
        block="GPTNeoXLayer",
        config="GPTNeoXConfig",
        names=USUAL,
        implementations=EAGER_FLOAT32,
        rates=("attention_dropout", "hidden_dropout"),
        rotary="GPTNeoXRotaryEmbedding",
    ),
    Family(
        layer="opt",
        shape="opt-6.7b",
        tokens=2048,
        model="opt",
        block="OPTDecoderLayer",
        config="OPTConfig",
        names={"hidden_size": "d", "num_attention_heads": "h", "ffn_dim": "d_ff"},
        implementations=EAGER_FLOAT32,
        rates=("attention_dropout", "dropout"),
    ),
    Family(
        layer="falcon",
        shape="falcon-7b",
        tokens=2048,
        model="falcon",
        block="FalconDecoderLayer",
        config="FalconConfig",
        names={"hidden_size": "d", "num_attention_heads": "h", "ffn_hidden_size": "d_ff"},
        implementations={"math": "sdpa", "eager": "eager", "flash": "sdpa"},
        rates=("attention_dropout", "hidden_dropout"),
        fixed={"multi_query": True, "parallel_attn": True, "bias": False},
        rotary="FalconRotaryEmbedding",
        call={"alibi": None},
        told_of_shared_heads=("flash",),
    ),
    Family(
        layer="bert",
        shape="bert-large",
        tokens=512,
        model="bert",
        block="BertLayer",
        config="BertConfig",
        names=USUAL,
        implementations=EAGER,
        rates=("attention_probs_dropout_prob", "hidden_dropout_prob"),
        masked=False,
    ),
    Family(
        layer="vit",
        shape="vit-l-16",
        tokens=197,
        model="vit",
        block="ViTLayer",
        config="ViTConfig",
        names=USUAL,
        implementations=EAGER_FLOAT32,
        rates=("attention_probs_dropout_prob", "hidden_dropout_prob"),
        masked=False,
    ),
)

for family in FAMILIES:
    # Two sequences: with one, a batched product may read in place what it copies otherwise.
    add_reference(
        family.layer,
        name=family.block,
        model=family.shape,
        tokens=family.tokens,
        sequences=2,
        covers=family.covers,
    )(family.factory)
