"""Which classes of Hugging Face's are described by which spec, and how they are configured."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, gcd
from typing import Any

from membill.audit.references import add_reference
from membill_specs.torch_reference.hugging_face import EAGER_FLOAT32, USUAL, Family
from membill_specs.torch_reference.other_families import OTHERS

GROUPED = {**USUAL, "num_key_value_heads": "n_kv"}
OWN_HEAD_WIDTH = {**GROUPED, "head_dim": "d_k"}
BIASES = {"attention_bias": True, "mlp_bias": True}


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


def partly_rotated(dims: Mapping[str, int]) -> Mapping[str, Any]:
    """The parameters of rotary positions over d_r of a head's entries."""
    share = dims["d_r"] / (dims["d"] // dims["h"])
    return {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": share}


LATENT = {
    "hidden_size": "d",
    "num_attention_heads": "h",
    "num_key_value_heads": "h",
    "q_lora_rank": "d_q",
    "kv_lora_rank": "d_c",
    "qk_nope_head_dim": "d_n",
    "qk_rope_head_dim": "d_r",
    "v_head_dim": "d_v",
}
EXPERTS = {
    "moe_intermediate_size": "d_e",
    "n_routed_experts": "E",
    "num_experts_per_tok": "k",
}


def of_experts(dims: Mapping[str, int]) -> Mapping[str, int]:
    """How many experts are shared, and in how many groups the others are, of two at least."""
    groups = 1 if dims["E"] % 2 else gcd(dims["E"] // 2, 8)
    return {
        "n_shared_experts": dims["d_s"] // dims["d_e"],
        "n_group": groups,
        "topk_group": ceil(groups / 2),
    }


def deepseek(
    layer: str, label: str, names: Mapping[str, str], dense_layers: int, **more: Any
) -> Family:
    """A kind of layer of DeepSeek-V3's; which one the first layer is, `dense_layers` says."""
    return Family(
        layer=layer,
        label=label,
        shape="deepseek-v3",
        tokens=4096,
        model="deepseek_v3",
        block="DeepseekV3DecoderLayer",
        config="DeepseekV3Config",
        names={**LATENT, **names},
        implementations=EAGER_FLOAT32,
        fixed={"first_k_dense_replace": dense_layers, "experts_implementation": "grouped_mm"},
        rotary="DeepseekV3RotaryEmbedding",
        **more,
    )


FAMILIES = (
    # Of several families of a layer, the last is the usual one.
    llama_like(
        "llama",
        "llama-3-8b",
        8192,
        "Llama",
        label="with biases",
        options={"norm": "hugging-face", **BIASES},
        fixed=BIASES,
    ),
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
    deepseek("deepseek_v3_dense", "dense", {"intermediate_size": "d_ff"}, 1),
    deepseek("deepseek_v3", "", EXPERTS, 0, made=of_experts),
    llama_like("qwen2", "qwen2.5-7b", 8192, "Qwen2"),
    llama_like("qwen3", "qwen3-4b", 8192, "Qwen3", names=OWN_HEAD_WIDTH),
    llama_like(
        "qwen3_moe",
        "qwen3-30b-a3b",
        8192,
        "Qwen3Moe",
        names={
            "hidden_size": "d",
            "num_attention_heads": "h",
            "num_key_value_heads": "n_kv",
            "head_dim": "d_k",
            "moe_intermediate_size": "d_e",
            "num_experts": "E",
            "num_experts_per_tok": "k",
        },
        fixed={"experts_implementation": "grouped_mm"},
        made=lambda dims: {"norm_topk_prob": dims.get("normalised", True)},
        free=("normalised",),
    ),
    llama_like("olmo2", "olmo-2-7b", 4096, "Olmo2"),
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
        "gemma3",
        "gemma-3-270m",
        8192,
        "Gemma3",
        config="Gemma3TextConfig",
        names=OWN_HEAD_WIDTH,
        fixed={"sliding_window_pattern": 1},  # no layer is local
        rotary_call=("full_attention",),
    ),
    llama_like(
        "phi",
        "phi-1.5",
        2048,
        "Phi",
        implementations=EAGER_FLOAT32,
        rates=("attention_dropout", "resid_pdrop"),
        made=lambda dims: {"rope_parameters": partly_rotated(dims)},
    ),
    llama_like(
        "phi3",
        "phi-3-mini",
        4096,
        "Phi3",
        rates=("attention_dropout", "resid_pdrop"),
        fixed={"pad_token_id": 0},
    ),
    *OTHERS,
)

for family in FAMILIES:
    # Two sequences: with one, a batched product may read in place what it copies otherwise.
    add_reference(
        family.layer,
        name=family.name,
        model=family.shape,
        tokens=family.tokens,
        sequences=2,
        covers=family.covers,
    )(family.factory)
