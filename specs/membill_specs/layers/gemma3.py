"""The layer of Gemma 3."""

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
    per_head,
    rotary_attention,
    rotated,
)
from membill_specs.ops import add
from membill_specs.ops import dropout as dropout_op

TABLES = ("cos_local", "sin_local")


@layer(
    "gemma3",
    title="Gemma 3 layer",
    source="Gemma Team 2025; transformers 5.24, Gemma3DecoderLayer",
)
def gemma3(
    x: Tensor,
    *,
    attention: Callable[..., Tensor] = flash,
    local: bool = False,
    dropout: bool = False,
) -> Tensor:
    """Gemma 2's layer with a norm on each head of the queries and keys, and no cap on scores.

    The width of a head is free. A local layer, whose attention has a window, rotates by tables
    that only local layers share. Dropout acts on the attention probabilities.
    """
    drop = dropout_op if dropout else identity
    with scope("norms"):
        y = gemma_rms_norm(x, name="before_attention")
    with scope("attention"):
        y = rotary_attention(
            y,
            attention=attention,
            drop=drop,
            head_norm=partial(per_head, gemma_rms_norm),
            rotate=partial(rotated, tables=TABLES) if local else rotated,
        )
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
