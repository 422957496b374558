"""The layers of DeepSeek-V3: the first few are dense, the others have experts."""

from collections.abc import Callable

from membill.spec import Tensor, layer, scope
from membill.symbols import E, d_e, d_ff, d_s, k
from membill_specs.blocks import (
    flash,
    gated_experts,
    gated_mlp,
    hugging_face_rms_norm,
    identity,
    latent_attention,
    sigmoid_router,
)
from membill_specs.ops import add
from membill_specs.ops import dropout as dropout_op

SOURCE = "DeepSeek-AI 2024, DeepSeek-V3; transformers 5.24, DeepseekV3DecoderLayer"


@layer("deepseek_v3_dense", title="DeepSeek-V3 dense layer", source=SOURCE)
def deepseek_v3_dense(
    x: Tensor,
    *,
    attention: Callable[..., Tensor] = flash,
    norm: Callable[..., Tensor] = hugging_face_rms_norm,
    dropout: bool = False,
) -> Tensor:
    """Pre-norm layer: RMSNorm, multi-head latent attention, RMSNorm, SwiGLU.

    No bias. Dropout acts on the attention probabilities.
    """
    x = _attended(x, attention, norm, dropout)
    with scope("norms"):
        y = norm(x, name="before_mlp")
    with scope("mlp"):
        return add(x, gated_mlp(y, d_ff), name="residual")


@layer("deepseek_v3", title="DeepSeek-V3 layer with experts", source=f"{SOURCE} with grouped_mm")
def deepseek_v3(
    x: Tensor,
    *,
    attention: Callable[..., Tensor] = flash,
    norm: Callable[..., Tensor] = hugging_face_rms_norm,
    dropout: bool = False,
) -> Tensor:
    """The dense layer with E experts, of which each token visits k, and shared ones that all visit.

    Experts are chosen by the sigmoid of the router's logits and a correction. No token is
    dropped. Dropout acts on the attention probabilities.
    """
    x = _attended(x, attention, norm, dropout)
    with scope("norms"):
        y = norm(x, name="before_experts")
    with scope("router"):
        weights = sigmoid_router(y, E, k)
    with scope("experts"):
        routed = gated_experts(y, weights, E, d_e)
    with scope("shared_experts"):
        y = add(routed, gated_mlp(y, d_s), name="both")
        return add(x, y, name="residual")


def _attended(
    x: Tensor, attention: Callable[..., Tensor], norm: Callable[..., Tensor], dropout: bool
) -> Tensor:
    """The first half, which both have."""
    drop = dropout_op if dropout else identity
    with scope("norms"):
        y = norm(x, name="before_attention")
    with scope("attention"):
        y = latent_attention(y, attention=attention, norm=norm, drop=drop)
        return add(x, y, name="residual")
