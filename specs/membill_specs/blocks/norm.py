"""RMSNorm, fused or op by op."""

from collections.abc import Callable

from membill.spec import FLOAT32, Tensor, choice, scope
from membill_specs.ops import (
    cast,
    mean,
    multiply,
    regroup,
    rms_norm,
    rsqrt,
    scale,
    scale_from_one,
    square,
)


@choice("rms_norm", "fused")
def fused_rms_norm(x: Tensor, name: str) -> Tensor:
    """One kernel; keeps its input and a float32 number per token."""
    return rms_norm(x, name=name)


@choice("rms_norm", "hugging-face")
def hugging_face_rms_norm(x: Tensor, name: str) -> Tensor:
    """As Hugging Face's LlamaRMSNorm runs without a compiler: in float32, op by op."""
    with scope(name):
        return scale(cast(normalised_in_float32(x), x.dtype, name="cast"), name="gain")


def gemma_rms_norm(x: Tensor, name: str) -> Tensor:
    """As Hugging Face's Gemma2RMSNorm: the gain is stored less one, and applied in float32."""
    with scope(name):
        return cast(scale_from_one(normalised_in_float32(x), name="gain"), x.dtype, name="cast")


def olmo_rms_norm(x: Tensor, name: str) -> Tensor:
    """As Hugging Face's Olmo2RMSNorm: the gain is applied in float32."""
    with scope(name):
        return cast(scale(normalised_in_float32(x), name="gain"), x.dtype, name="cast")


def normalised_in_float32(x: Tensor) -> Tensor:
    """x over its root mean square, op by op in float32."""
    wide = cast(x, FLOAT32, name="float32")
    return multiply(wide, rsqrt(mean(square(wide))), name="normalised")


def per_head(norm: Callable[..., Tensor], x: Tensor, name: str) -> Tensor:
    """The norm over each head's entries alone, for queries and keys of (b, T, h, d_k)."""
    with scope(name):
        heads = regroup(x, x.leading_axes + 1, name="heads")
        return regroup(norm(heads, name="norm"), x.leading_axes, name="tokens")
