"""Falcon 7B, and the decoder of Falcon 40B."""

from membill.spec import Configuration, Value, at, register
from membill.symbols import d, d_ff, h, n_kv
from membill_specs.configs.common import MULTI_HEAD, SHARED_EVENLY, tied

FIELDS = {
    **MULTI_HEAD,
    d: at("hidden_size", "n_embed"),
    d_ff: at("ffn_hidden_size", default=4 * d),
}
REQUIRES: dict[str, tuple[Value, ...]] = {
    "activation": ("gelu",),
    "alibi": (False,),
    "bias": (False,),
    "parallel_attn": (True,),
}

register(
    Configuration(
        "falcon",
        architecture="falcon",
        classes={"FalconForCausalLM": {}},
        fields={**FIELDS, n_kv: at(default=1)},
        options=tied(True),
        requires={
            **REQUIRES,
            "multi_query": (True,),
            "new_decoder_architecture": (False,),
            "num_ln_in_parallel_attn": (None, 1),
        },
        equal={"head_dim": d / h},
    ),
    Configuration(
        "falcon_new_decoder",
        model_type="falcon",
        architecture="falcon_new_decoder",
        classes={"FalconForCausalLM": {}},
        fields={**FIELDS, n_kv: at("num_kv_heads", default=h)},
        options=tied(True),
        requires={**REQUIRES, "num_ln_in_parallel_attn": (None, 2)},
        equal={"head_dim": d / h},
        divides=SHARED_EVENLY,
        when={"new_decoder_architecture": (True,)},
    ),
)
