"""Classes of Hugging Face's whose configurations have fields of their own."""

from __future__ import annotations

from typing import Any

from membill_specs.torch_reference.hugging_face import EAGER, EAGER_FLOAT32, USUAL, Family


def gpt_neox(**more: Any) -> Family:
    """GPT-NeoX, with one of its activations."""
    return Family(
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
        **more,
    )


OTHERS = (
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
    gpt_neox(label="fast GELU", options={"gelu": "fast"}, fixed={"hidden_act": "gelu_fast"}),
    gpt_neox(),
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
        layer="falcon_new_decoder",
        label="new decoder",
        shape="falcon-40b",
        tokens=2048,
        model="falcon",
        block="FalconDecoderLayer",
        config="FalconConfig",
        names={
            "hidden_size": "d",
            "num_attention_heads": "h",
            "num_kv_heads": "n_kv",
            "ffn_hidden_size": "d_ff",
        },
        implementations=EAGER,
        rates=("attention_dropout", "hidden_dropout"),
        fixed={"new_decoder_architecture": True, "bias": False},
        rotary="FalconRotaryEmbedding",
        call={"alibi": None},
    ),
    Family(
        layer="gpt_bigcode",
        shape="starcoder-15b",
        tokens=8192,
        model="gpt_bigcode",
        block="GPTBigCodeBlock",
        config="GPTBigCodeConfig",
        names={"n_embd": "d", "n_head": "h", "n_inner": "d_ff"},
        implementations=EAGER_FLOAT32,
        rates=("attn_pdrop", "resid_pdrop"),
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
