"""The layer of Phi-3."""

from collections.abc import Callable

from membill.spec import Tensor, layer, scope
from membill.symbols import d, d_ff, d_k, h, n_kv
from membill_specs.blocks import (
    flash,
    fused_qkv,
    gated_mlp,
    hugging_face_rms_norm,
    identity,
    rotated,
)
from membill_specs.ops import add, copy, linear
from membill_specs.ops import dropout as dropout_op


@layer(
    "phi3",
    title="Phi-3 layer",
    source="Abdin et al. 2024; transformers 5.24, Phi3DecoderLayer",
    where={d_k: d / h},
)
def phi3(
    x: Tensor,
    *,
    attention: Callable[..., Tensor] = flash,
    norm: Callable[..., Tensor] = hugging_face_rms_norm,
    dropout: bool = False,
) -> Tensor:
    """Llama's layer with one projection for queries, keys and values, and one for gate and up.

    Whoever keeps a part of a projection's output keeps all of it. The rotated heads are
    concatenated, which lays them out heads first, and the kernel's output with them: the output
    projection reads a copy. Dropout acts on the attention probabilities and on the output of
    each half.
    """
    drop = dropout_op if dropout else identity
    with scope("norms"):
        y = norm(x, name="before_attention")
    with scope("attention"):
        q, k, v = fused_qkv(y, h, n_kv, n_kv)
        q, k = rotated(q, k)
        y = copy(attention(q, k, v, drop), name="tokens_first")
        y = linear(y, d, name="out")
        x = add(x, drop(y), name="residual")
    with scope("norms"):
        y = norm(x, name="before_mlp")
    with scope("mlp"):
        return add(x, drop(gated_mlp(y, d_ff, fused_projection=True)), name="residual")
