"""Qwen2, Qwen2.5 and Qwen3, with experts in every layer or in none."""

from membill.spec import Configuration, Setting, Value, at, register
from membill.symbols import E, L, L_f, d_e, d_ff, d_k, h, k, n_kv, w
from membill_specs.configs.common import (
    ALL_FULL,
    FULL,
    GROUPED,
    SHARED_EVENLY,
    WINDOWED,
    tied,
)

FIELDS = {**GROUPED, n_kv: at("num_key_value_heads", default=h, absent=32)}
REQUIRES: dict[str, tuple[Value, ...]] = {"hidden_act": ("silu",), "use_sliding_window": (False,)}

register(
    Configuration(
        "qwen2_window",
        model_type="qwen2",
        architecture="qwen2_window",
        classes={"Qwen2ForCausalLM": {}},
        fields={
            **FIELDS,
            L_f: at("max_window_layers", absent=28),
            w: at("sliding_window", absent=4096),
        },
        options=tied(False),
        requires={"hidden_act": ("silu",)},
        divides=SHARED_EVENLY,
        at_most=((L_f, L),),
        cycles={"layer_types": (((FULL,), L_f), ((WINDOWED,), L - L_f))},
        when={"use_sliding_window": (True,)},
    ),
    Configuration(
        "qwen2",
        architecture="qwen2",
        classes={"Qwen2ForCausalLM": {}},
        fields=FIELDS,
        options=tied(False),
        requires=REQUIRES,
        divides=SHARED_EVENLY,
        cycles=ALL_FULL,
    ),
    Configuration(
        "qwen3",
        architecture="qwen3",
        classes={"Qwen3ForCausalLM": {}},
        fields={**FIELDS, d_k: at("head_dim", absent=128)},
        options=tied(False),
        requires={**REQUIRES, "attention_bias": (False,)},
        divides=SHARED_EVENLY,
        cycles=ALL_FULL,
    ),
    Configuration(
        "qwen3_moe",
        architecture="qwen3_moe",
        classes={"Qwen3MoeForCausalLM": {}},
        fields={
            **{symbol: item for symbol, item in GROUPED.items() if symbol != d_ff},
            n_kv: at("num_key_value_heads", default=h, absent=4),
            d_e: at("moe_intermediate_size"),
            E: at("num_experts", "num_local_experts"),
            k: at("num_experts_per_tok"),
        },
        options={**tied(False), "normalised": Setting("norm_topk_prob", False)},
        requires={**REQUIRES, "attention_bias": (False,), "decoder_sparse_step": (1,)},
        divides=SHARED_EVENLY,
        at_most=((k, E),),
    ),
)
