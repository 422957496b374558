"""The layer of Mistral."""

from collections.abc import Callable

from membill.spec import Tensor, layer, scope
from membill.symbols import d, d_ff, d_k, h
from membill_specs.blocks import (
    flash,
    gated_mlp,
    hugging_face_rms_norm,
    identity,
    rotary_attention,
)
from membill_specs.ops import add
from membill_specs.ops import dropout as dropout_op


@layer(
    "mistral",
    title="Mistral layer",
    source="Jiang et al. 2023; transformers 5.24, MistralDecoderLayer",
    where={d_k: d / h},
)
def mistral(
    x: Tensor,
    *,
    attention: Callable[..., Tensor] = flash,
    norm: Callable[..., Tensor] = hugging_face_rms_norm,
    dropout: bool = False,
) -> Tensor:
    """Llama's layer; its window limits what a token sees, not what is kept.

    Dropout acts on the attention probabilities.
    """
    drop = dropout_op if dropout else identity
    with scope("norms"):
        y = norm(x, name="before_attention")
    with scope("attention"):
        y = rotary_attention(y, attention=attention, drop=drop)
        x = add(x, y, name="residual")
    with scope("norms"):
        y = norm(x, name="before_mlp")
    with scope("mlp"):
        return add(x, gated_mlp(y, d_ff), name="residual")
