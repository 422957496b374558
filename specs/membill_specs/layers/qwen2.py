"""The layer of Qwen2 and Qwen2.5."""

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
    "qwen2",
    title="Qwen2 layer",
    source="Yang et al. 2024; transformers 5.24, Qwen2DecoderLayer",
    where={d_k: d / h},
)
def qwen2(
    x: Tensor,
    *,
    attention: Callable[..., Tensor] = flash,
    norm: Callable[..., Tensor] = hugging_face_rms_norm,
    dropout: bool = False,
) -> Tensor:
    """Llama's layer with biases on the query, key and value projections.

    Dropout acts on the attention probabilities.
    """
    drop = dropout_op if dropout else identity
    with scope("norms"):
        y = norm(x, name="before_attention")
    with scope("attention"):
        y = rotary_attention(y, attention=attention, drop=drop, bias=True)
        x = add(x, y, name="residual")
    with scope("norms"):
        y = norm(x, name="before_mlp")
    with scope("mlp"):
        return add(x, gated_mlp(y, d_ff), name="residual")
