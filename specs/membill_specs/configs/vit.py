"""The Vision Transformer."""

from membill.spec import Configuration, at, register
from membill.symbols import C, P, V, d_i, d_p, d_x, n_i
from membill_specs.configs.common import MULTI_HEAD, OF_MULTI_HEAD

register(
    Configuration(
        "vit",
        architecture="vit",
        classes={"ViTForImageClassification": {}},
        fields={
            **{symbol: item for symbol, item in MULTI_HEAD.items() if symbol != V},
            d_i: at("image_size", absent=224, helper=True),
            d_x: at("patch_size", absent=16, helper=True),
            n_i: at("num_channels", absent=3, helper=True),
            P: at(default=(d_i / d_x) ** 2 + 1),
            d_p: at(default=d_x**2 * n_i),
            C: at("id2label", "num_labels", entries=True, absent=2),
        },
        requires={"hidden_act": ("gelu",), "qkv_bias": (True,)},
        equal=OF_MULTI_HEAD,
    )
)
