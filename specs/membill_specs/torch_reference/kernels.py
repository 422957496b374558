"""The kernels that a GPU runs for functions which a CPU serves otherwise."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import _meta_registrations as meta_registrations
from torch.nn import functional as F

from membill.audit.kernels import emulate, meta_kernel
from membill.audit.references import stands_in_for
from membill.errors import InputError


@stands_in_for(F.dropout, torch.dropout)
def dropout(x: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """The fused kernel keeps a mask of one byte an entry; a CPU keeps one in the dtype of x."""
    if not training or p in (0, 1):
        return F.dropout(x, p, training)
    return torch.native_dropout(x, p, True)[0]


def in_float32(*tensors: Any) -> tuple[Any, ...]:
    """What goes into what a GPU runs in float32 under autocast, and a CPU as it comes."""
    if not torch.is_autocast_enabled("cpu"):
        return tensors
    return tuple(None if x is None else x.to(torch.float32) for x in tensors)


def narrowed(x: Any) -> Any:
    """What goes into a kernel that is called where autocast, which would cast, does not see it."""
    return x.to(torch.get_autocast_dtype("cpu")) if torch.is_autocast_enabled("cpu") else x


@stands_in_for(F.softmax)
def softmax(x: Any, *args: Any, **kwargs: Any) -> Any:
    """In float32 under autocast."""
    return F.softmax(*in_float32(x), *args, **kwargs)


@stands_in_for(torch.softmax)
def torch_softmax(x: Any, *args: Any, **kwargs: Any) -> Any:
    """As the one of `functional`."""
    return torch.softmax(*in_float32(x), *args, **kwargs)


@stands_in_for(F.layer_norm, torch.layer_norm)
def layer_norm(
    x: Any, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5, *_: Any
) -> Any:
    """A GPU keeps mean and reciprocal deviation in float32; a CPU in the dtype of x."""

    def run(x: Any, weight: Any, bias: Any) -> Any:
        return F.layer_norm(x, shape, weight, bias, eps)

    return emulate(run, run, *in_float32(x, weight, bias))


@stands_in_for(F.rms_norm, torch.rms_norm)
def rms_norm(x: Any, shape: Any, weight: Any = None, eps: float | None = None) -> Any:
    """One kernel on a GPU, if x and the weight are of one dtype; else op by op."""
    x, weight = in_float32(x, weight)

    def op_by_op(x: Any, weight: Any) -> Any:
        return F.rms_norm(x, shape, weight, eps)

    def fused(x: Any, weight: Any) -> Any:
        with meta_kernel("_fused_rms_norm", _rms_norm_shapes):
            return torch.ops.aten._fused_rms_norm(x, shape, weight, eps)[0]

    if weight is not None and weight.dtype != x.dtype:
        return op_by_op(x, weight)
    return emulate(fused, op_by_op, x, weight)


def _rms_norm_shapes(x: Any, shape: Any, weight: Any, eps: Any) -> tuple[Any, Any]:
    per_token = (*x.shape[: -len(shape)], *(1 for _ in shape))
    return torch.empty_like(x), x.new_empty(per_token, dtype=torch.float32)


@stands_in_for(torch._grouped_mm)
def grouped_mm(x: Any, weight: Any, **how: Any) -> Any:
    """A CPU and a GPU take float32 too; on `meta` PyTorch's shape function wants bfloat16 alone."""
    if x.device.type == "meta" and x.dtype != torch.bfloat16:
        with meta_kernel("_grouped_mm", _grouped_mm_shapes):
            return torch._grouped_mm(x, weight, **how)
    return torch._grouped_mm(x, weight, **how)


def _grouped_mm_shapes(x: Any, weight: Any, *_: Any, **how: Any) -> Any:
    return x.new_empty(x.shape[0], weight.shape[2])


@stands_in_for(F.scaled_dot_product_attention)
def flash_attention(  # noqa: PLR0917 (as PyTorch has them)
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """Flash attention, which reads key-value heads in place that query heads share.

    On a GPU it takes bfloat16 and float16; here float32 too, as if it did. It works on head
    widths that are multiples of 8 and PyTorch pads others. It takes no mask but the causal one.
    Values narrower than keys go to FlashAttention-3 or cuDNN, whose result lies as queries do.
    """
    if attn_mask is not None:
        raise InputError(
            "scaled_dot_product_attention got attn_mask: flash attention takes none and a GPU "
            "would run another kernel. Leave it out, with is_causal=True if it was causal"
        )
    if query.shape[1] != key.shape[1] and not enable_gqa:
        # No fused kernel takes heads that differ in number without being told that they may.
        op = torch.ops.aten._scaled_dot_product_attention_math
        return op(query, key, value, None, dropout_p, is_causal, scale=scale)[0]
    query, key, value = map(narrowed, (query, key, value))
    width = value.shape[-1]
    scale = query.shape[-1] ** -0.5 if scale is None else scale

    def kernel(query: Any, key: Any, value: Any) -> Any:
        op = torch.ops.aten._scaled_dot_product_flash_attention
        narrower = value.shape[-1] != query.shape[-1]
        with _narrower_values() if narrower else nullcontext():
            return op(query, key, value, dropout_p, is_causal, scale=scale)[0]

    def compute(query: Any, key: Any, value: Any) -> Any:
        # Without dropout: entries differ, storages do not.
        result = F.scaled_dot_product_attention(
            query, key, value, is_causal=is_causal, scale=scale, enable_gqa=enable_gqa
        )
        return torch.empty_like(query[..., : result.shape[-1]]).copy_(result)

    query, key, value = map(_padded, (query, key, value))
    return emulate(kernel, compute, query, key, value)[..., :width]


def _padded(x: Any) -> Any:
    """With zeros to a width that is a multiple of 8."""
    return F.pad(x, (0, -x.shape[-1] % 8)) if x.shape[-1] % 8 else x


def _narrower_values() -> AbstractContextManager[None]:
    """The kernel's shapes as PyTorch has them, but for a result as wide as values."""

    def shapes(query: Any, key: Any, value: Any, *_: Any, **how: Any) -> Any:
        usual = meta_registrations.meta__scaled_dot_product_flash_attention(query, key, value)
        return (torch.empty_like(query[..., : value.shape[-1]]), *usual[1:])

    return meta_kernel("_scaled_dot_product_flash_attention", shapes)
