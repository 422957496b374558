"""Attention in plain PyTorch, by the names that the specs give its kernels."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F


def heads(x: Any, count: int) -> Any:
    """(b, T, d) to (b, count, T, d / count): a view."""
    return x.unflatten(-1, (count, -1)).transpose(1, 2)


def merged(x: Any) -> Any:
    """(b, h, T, d_k) to (b, T, h d_k)."""
    return x.transpose(1, 2).flatten(2)


def attend(kind: str, q: Any, k: Any, v: Any, dropout: float) -> Any:
    """Causal attention; there may be fewer key-value heads than query heads."""
    if kind == "flash":
        return F.scaled_dot_product_attention(
            q, k, v, dropout_p=dropout, is_causal=True, enable_gqa=True
        )
    copies = q.shape[1] // k.shape[1]
    if copies > 1:
        k, v = (x.repeat_interleave(copies, dim=1) for x in (k, v))
    return {"eager": eager, "eager-float32": eager_float32, "math": math}[kind](q, k, v, dropout)


def eager(q: Any, k: Any, v: Any, dropout: float) -> Any:
    """One op after the other."""
    scores = q @ k.transpose(2, 3) / q.shape[-1] ** 0.5
    return F.dropout(F.softmax(masked(scores), dim=-1), dropout) @ v


def eager_float32(q: Any, k: Any, v: Any, dropout: float) -> Any:
    """The softmax in float32, cast back."""
    scores = q @ k.transpose(2, 3) / q.shape[-1] ** 0.5
    p = F.softmax(masked(scores), dim=-1, dtype=torch.float32).to(q.dtype)
    return F.dropout(p, dropout) @ v


def math(q: Any, k: Any, v: Any, dropout: float) -> Any:
    """As `torch._scaled_dot_product_attention_math`: in float32, q and k scaled each."""
    dtype, root = q.dtype, q.shape[-1] ** -0.25
    q, k, v = (x.to(torch.float32) for x in (q, k, v))
    p = F.softmax(masked((q * root) @ (k * root).transpose(2, 3)), dim=-1)
    return (F.dropout(p, dropout) @ v).to(dtype)


def masked(scores: Any) -> Any:
    """Scores with those of the future at minus infinity; a sum keeps nothing."""
    future = torch.full(scores.shape[2:], float("-inf"), device=scores.device).triu(1)
    return scores + future.to(scores.dtype)
