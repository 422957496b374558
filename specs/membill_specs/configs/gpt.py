"""GPT-2, StarCoder and GPT-NeoX."""

from membill.spec import Configuration, Setting, at, register
from membill.symbols import L, P, d, d_ff, h, n_kv
from membill_specs.configs.common import MULTI_HEAD, OF_MULTI_HEAD, tied

GPT2 = {
    **MULTI_HEAD,
    L: at("n_layer", "num_hidden_layers"),
    d: at("n_embd", "hidden_size"),
    h: at("n_head", "num_attention_heads"),
    d_ff: at("n_inner", default=4 * d),
    P: at("n_positions", "max_position_embeddings"),
}

register(
    Configuration(
        "gpt2",
        architecture="gpt2",
        classes={"GPT2LMHeadModel": {}},
        fields=GPT2,
        options=tied(True),
        requires={
            "activation_function": ("gelu_new",),
            "add_cross_attention": (False,),
            "reorder_and_upcast_attn": (False,),
        },
        equal={**OF_MULTI_HEAD, "n_ctx": P},
    ),
    Configuration(
        "gpt_bigcode",
        architecture="gpt_bigcode",
        classes={"GPTBigCodeForCausalLM": {}},
        fields={**GPT2, n_kv: at("multi_query", flag=(1, h), absent=1)},
        options=tied(True),
        requires={
            "activation_function": ("gelu_pytorch_tanh",),
            "add_cross_attention": (False,),
            "multi_query": (True,),
        },
        equal={"head_dim": d / h, "num_key_value_heads": n_kv, "n_ctx": P},
    ),
    Configuration(
        "gpt_neox",
        architecture="gpt_neox",
        classes={"GPTNeoXForCausalLM": {}},
        fields=MULTI_HEAD,
        options={
            **tied(False),
            "gelu": Setting("hidden_act", "gelu", (("gelu", "fused"), ("gelu_fast", "fast"))),
        },
        requires={
            "use_parallel_residual": (True,),
            "attention_bias": (True,),
            "rotary_pct": (0.25,),
            "rope_parameters.partial_rotary_factor": (0.25,),
        },
        equal=OF_MULTI_HEAD,
    ),
)
