"""The layer of Qwen3's dense models."""

from collections.abc import Callable
from functools import partial

from membill.spec import Tensor, layer, scope
from membill.symbols import d_ff
from membill_specs.blocks import (
    flash,
    gated_mlp,
    hugging_face_rms_norm,
    identity,
    per_head,
    rotary_attention,
)
from membill_specs.ops import add
from membill_specs.ops import dropout as dropout_op


@layer(
    "qwen3",
    title="Qwen3 layer",
    source="Yang et al. 2025; transformers 5.24, Qwen3DecoderLayer",
)
def qwen3(
    x: Tensor,
    *,
    attention: Callable[..., Tensor] = flash,
    norm: Callable[..., Tensor] = hugging_face_rms_norm,
    dropout: bool = False,
) -> Tensor:
    """Llama's layer with an RMSNorm on each head of the queries and keys, before the rotation.

    The width of a head is free: h times d_k need not be d. Dropout acts on the attention
    probabilities.
    """
    drop = dropout_op if dropout else identity
    with scope("norms"):
        y = norm(x, name="before_attention")
    with scope("attention"):
        y = rotary_attention(y, attention=attention, drop=drop, head_norm=partial(per_head, norm))
        x = add(x, y, name="residual")
    with scope("norms"):
        y = norm(x, name="before_mlp")
    with scope("mlp"):
        return add(x, gated_mlp(y, d_ff), name="residual")
