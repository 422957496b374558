"""Gemma 2 and Gemma 3. A file of Gemma 3's often has few fields."""

import sympy

from membill.spec import Configuration, at, register
from membill.symbols import L, V, d, d_ff, d_k, h, n_kv, w
from membill_specs.configs.common import FULL, GROUPED, SHARED_EVENLY, WINDOWED, tied

register(
    Configuration(
        "gemma2",
        architecture="gemma2",
        classes={"Gemma2ForCausalLM": {}},
        fields={
            **GROUPED,
            n_kv: at("num_key_value_heads", absent=4),
            d_k: at("head_dim", absent=256),
            w: at("sliding_window", absent=4096),
        },
        options=tied(True),
        requires={
            "hidden_activation": ("gelu_pytorch_tanh",),
            "attention_bias": (False,),
            "attn_logit_softcapping": (50.0,),
            "final_logit_softcapping": (30.0,),
            "use_bidirectional_attention": (None, False),
        },
        divides=(*SHARED_EVENLY, (sympy.Integer(2), L)),
        cycles={"layer_types": (((WINDOWED, FULL), L),)},
    ),
    Configuration(
        "gemma3_text",
        architecture="gemma3",
        classes={"Gemma3ForCausalLM": {}},
        fields={
            L: at("num_hidden_layers", absent=26),
            d: at("hidden_size", absent=2304),
            h: at("num_attention_heads", absent=8),
            n_kv: at("num_key_value_heads", absent=4),
            d_k: at("head_dim", absent=256),
            d_ff: at("intermediate_size", absent=9216),
            V: at("vocab_size", absent=262208),
            w: at("sliding_window", absent=4096),
        },
        options=tied(True),
        requires={
            "hidden_activation": ("gelu_pytorch_tanh",),
            "attention_bias": (False,),
            "attn_logit_softcapping": (None,),
            "final_logit_softcapping": (None,),
            "use_bidirectional_attention": (None, False),
            "sliding_window_pattern": (6,),
            "_sliding_window_pattern": (6,),
        },
        divides=SHARED_EVENLY,
        cycles={"layer_types": (((*[WINDOWED] * 5, FULL), L),)},
    ),
)
