"""OLMo 2."""

from membill.spec import Configuration, register
from membill_specs.configs.common import GROUPED, SHARED_EVENLY, tied

register(
    Configuration(
        "olmo2",
        architecture="olmo2",
        classes={"Olmo2ForCausalLM": {}},
        fields=GROUPED,
        options=tied(False),
        requires={"hidden_act": ("silu",), "attention_bias": (False,)},
        divides=SHARED_EVENLY,
    )
)
