"""The layer of Gemma 2."""

from collections.abc import Callable
from functools import partial

from membill.spec import Tensor, layer, scope
from membill.symbols import d_ff
from membill_specs.blocks import (
    eager_geglu,
    flash,
    gated_mlp,
    gemma_rms_norm,
    identity,
    rotary_attention,
    soft_cap,
)
from membill_specs.ops import add
from membill_specs.ops import dropout as dropout_op


@layer(
    "gemma2",
    title="Gemma 2 layer",
    source="Gemma Team 2024; transformers 5.24, Gemma2DecoderLayer",
)
def gemma2(
    x: Tensor,
    *,
    attention: Callable[..., Tensor] = flash,
    dropout: bool = False,
) -> Tensor:
    """A norm before and one after each half, soft-capped scores, and a GELU-gated MLP.

    The width of a head is free. The gain of a norm is applied in float32. Dropout acts on the
    attention probabilities.
    """
    drop = dropout_op if dropout else identity
    capped = partial(attention, cap=soft_cap)
    with scope("norms"):
        y = gemma_rms_norm(x, name="before_attention")
    with scope("attention"):
        y = rotary_attention(y, attention=capped, drop=drop)
    with scope("norms"):
        y = gemma_rms_norm(y, name="after_attention")
    x = add(x, y, name="attention_residual")
    with scope("norms"):
        y = gemma_rms_norm(x, name="before_mlp")
    with scope("mlp"):
        y = gated_mlp(y, d_ff, gated=eager_geglu)
    with scope("norms"):
        y = gemma_rms_norm(y, name="after_mlp")
    return add(x, y, name="mlp_residual")
