"""The layer of OLMo 2."""

from collections.abc import Callable

from membill.spec import Tensor, layer, scope
from membill.symbols import d, d_ff, d_k, h
from membill_specs.blocks import (
    flash,
    gated_mlp,
    identity,
    olmo_rms_norm,
    rotary_attention,
    rotated_in_float32,
)
from membill_specs.ops import add
from membill_specs.ops import dropout as dropout_op


@layer(
    "olmo2",
    title="OLMo 2 layer",
    source="OLMo Team 2025, 2 OLMo 2 Furious; transformers 5.24, Olmo2DecoderLayer",
    where={d_k: d / h},
)
def olmo2(
    x: Tensor,
    *,
    attention: Callable[..., Tensor] = flash,
    dropout: bool = False,
) -> Tensor:
    """Llama's layer with its norms after each half, and one over all heads of queries and of keys.

    Gains of norms are applied in float32, and so is the rotation. Dropout acts on the attention
    probabilities.
    """
    drop = dropout_op if dropout else identity
    with scope("attention"):
        y = rotary_attention(
            x,
            attention=attention,
            drop=drop,
            head_norm=olmo_rms_norm,
            rotate=rotated_in_float32,
        )
    with scope("norms"):
        y = olmo_rms_norm(y, name="after_attention")
    x = add(x, y, name="attention_residual")
    with scope("mlp"):
        y = gated_mlp(x, d_ff)
    with scope("norms"):
        y = olmo_rms_norm(y, name="after_mlp")
    return add(x, y, name="mlp_residual")
