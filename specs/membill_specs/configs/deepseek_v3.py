"""DeepSeek-V3."""

from membill.spec import Configuration, at, register
from membill.symbols import E, L, L_d, V, d, d_c, d_e, d_ff, d_n, d_q, d_r, d_s, d_v, h, k
from membill_specs.configs.common import tied

register(
    Configuration(
        "deepseek_v3",
        architecture="deepseek_v3",
        classes={"DeepseekV3ForCausalLM": {}},
        fields={
            L: at("num_hidden_layers"),
            L_d: at("first_k_dense_replace"),
            d: at("hidden_size"),
            h: at("num_attention_heads"),
            d_q: at("q_lora_rank"),
            d_c: at("kv_lora_rank"),
            d_n: at("qk_nope_head_dim"),
            d_r: at("qk_rope_head_dim"),
            d_v: at("v_head_dim"),
            d_ff: at("intermediate_size"),
            d_e: at("moe_intermediate_size"),
            d_s: at("n_shared_experts", times=d_e),
            E: at("n_routed_experts", "num_local_experts"),
            k: at("num_experts_per_tok"),
            V: at("vocab_size"),
        },
        options=tied(False),
        requires={
            "hidden_act": ("silu",),
            "attention_bias": (False,),
            "moe_layer_freq": (1,),
            "norm_topk_prob": (True,),
            "scoring_func": ("sigmoid",),
            "topk_method": ("noaux_tc",),
        },
        equal={"qk_head_dim": d_n + d_r, "head_dim": d_r, "num_key_value_heads": h},
        at_most=((k, E), (L_d, L)),
    )
)
