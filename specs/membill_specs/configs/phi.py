"""Phi-1.5, Phi-2 and Phi-3."""

from membill.spec import Configuration, Value, at, register
from membill.symbols import d_k, d_r, w
from membill_specs.configs.common import GROUPED, SHARED_EVENLY, tied

ROTATED = ("partial_rotary_factor", "rope_parameters.partial_rotary_factor")
OF_PHI3: dict[str, tuple[Value, ...]] = {
    "hidden_act": ("silu",),
    **dict.fromkeys(ROTATED, (1.0,)),
}

register(
    Configuration(
        "phi",
        architecture="phi",
        classes={"PhiForCausalLM": {}},
        fields={**GROUPED, d_r: at(*ROTATED, share=d_k, default=d_k / 2)},
        options=tied(False),
        requires={"hidden_act": ("gelu_new",), "qk_layernorm": (False,)},
        divides=SHARED_EVENLY,
    ),
    Configuration(
        "phi3_window",
        model_type="phi3",
        architecture="phi3_window",
        classes={"Phi3ForCausalLM": {}},
        fields={**GROUPED, w: at("sliding_window")},
        options=tied(False),
        requires=OF_PHI3,
        divides=SHARED_EVENLY,
        given=("sliding_window",),
    ),
    Configuration(
        "phi3",
        architecture="phi3",
        classes={"Phi3ForCausalLM": {}},
        fields=GROUPED,
        options=tied(False),
        requires=OF_PHI3,
        divides=SHARED_EVENLY,
    ),
)
