"""The kernels that a GPU runs for functions which a CPU serves otherwise."""

from __future__ import annotations

from typing import Any

import torch
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


@stands_in_for(F.layer_norm, torch.layer_norm)
def layer_norm(
    x: Any, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5, *_: Any
) -> Any:
    """A GPU keeps mean and reciprocal deviation in float32; a CPU in the dtype of x."""

    def run(x: Any, weight: Any, bias: Any) -> Any:
        return F.layer_norm(x, shape, weight, bias, eps)

    return emulate(run, run, x, weight, bias)


@stands_in_for(F.rms_norm, torch.rms_norm)
def rms_norm(x: Any, shape: Any, weight: Any = None, eps: float | None = None) -> Any:
    """One kernel on a GPU, if x and the weight are of one dtype; else op by op."""

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
    width = query.shape[-1]
    scale = width**-0.5 if scale is None else scale

    def kernel(query: Any, key: Any, value: Any) -> Any:
        op = torch.ops.aten._scaled_dot_product_flash_attention
        return op(query, key, value, dropout_p, is_causal, scale=scale)[0]

    def compute(query: Any, key: Any, value: Any) -> Any:
        # Without dropout: entries differ, storages do not.
        result = F.scaled_dot_product_attention(
            query, key, value, is_causal=is_causal, scale=scale, enable_gqa=enable_gqa
        )
        return torch.empty_like(query).copy_(result)

    if width % 8:
        query, key, value = (F.pad(x, (0, -width % 8)) for x in (query, key, value))
    return emulate(kernel, compute, query, key, value)[..., :width]
