"""Llama, and what is published as one."""

from membill.spec import Configuration, Setting, register
from membill_specs.configs.common import GROUPED, SHARED_EVENLY, tied

BIASES = {key: Setting(key, False) for key in ("attention_bias", "mlp_bias")}

register(
    Configuration(
        "llama",
        architecture="llama",
        classes={"LlamaForCausalLM": {}},
        fields=GROUPED,
        options={**tied(False), **BIASES},
        requires={"hidden_act": ("silu",)},
        divides=SHARED_EVENLY,
    )
)
