"""OPT."""

from membill.spec import Configuration, at, register
from membill.symbols import P, d, d_ff
from membill_specs.configs.common import MULTI_HEAD, OF_MULTI_HEAD, tied

register(
    Configuration(
        "opt",
        architecture="opt",
        classes={"OPTForCausalLM": {}},
        fields={**MULTI_HEAD, d_ff: at("ffn_dim"), P: at("max_position_embeddings")},
        options=tied(True),
        requires={
            "activation_function": ("relu",),
            "do_layer_norm_before": (True,),
            "_remove_final_layer_norm": (False,),
            "enable_bias": (True,),
            "layer_norm_elementwise_affine": (True,),
        },
        equal={**OF_MULTI_HEAD, "word_embed_proj_dim": d},
    )
)
