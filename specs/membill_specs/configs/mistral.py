"""Mistral and Mixtral."""

from membill.spec import Configuration, at, register
from membill.symbols import E, d_e, d_ff, h, k, n_kv, w
from membill_specs.configs.common import GROUPED, SHARED_EVENLY, tied

FIELDS = {**GROUPED, n_kv: at("num_key_value_heads", default=h, absent=8)}
EXPERTS = {
    **{symbol: item for symbol, item in FIELDS.items() if symbol != d_ff},
    d_e: at("intermediate_size"),
    E: at("num_local_experts", "num_experts"),
    k: at("num_experts_per_tok"),
}

register(
    Configuration(
        "mistral",
        architecture="mistral",
        classes={"MistralForCausalLM": {}},
        fields=FIELDS,
        options=tied(False),
        requires={"hidden_act": ("silu",)},
        divides=SHARED_EVENLY,
        when={"sliding_window": (None,)},
    ),
    Configuration(
        "mistral_window",
        model_type="mistral",
        architecture="mistral_window",
        classes={"MistralForCausalLM": {}},
        fields={**FIELDS, w: at("sliding_window", absent=4096)},
        options=tied(False),
        requires={"hidden_act": ("silu",)},
        divides=SHARED_EVENLY,
    ),
    Configuration(
        "mixtral_window",
        model_type="mixtral",
        architecture="mixtral_window",
        classes={"MixtralForCausalLM": {}},
        fields={**EXPERTS, w: at("sliding_window")},
        options=tied(False),
        requires={"hidden_act": ("silu",)},
        divides=SHARED_EVENLY,
        at_most=((k, E),),
        given=("sliding_window",),
    ),
    Configuration(
        "mixtral",
        architecture="mixtral",
        classes={"MixtralForCausalLM": {}},
        fields=EXPERTS,
        options=tied(False),
        requires={"hidden_act": ("silu",)},
        divides=SHARED_EVENLY,
        at_most=((k, E),),
    ),
)
