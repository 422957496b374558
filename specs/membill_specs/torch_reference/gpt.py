"""The layer of GPT-2 and GPT-3 in plain PyTorch."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from membill.audit.references import add_reference
from membill_specs.torch_reference.attention import attend, heads, merged

DROPOUT = 0.1


class Attention(nn.Module):
    """Multi-head attention with biases and causal scores."""

    def __init__(self, d: int, h: int, attention: str, dropout: float) -> None:
        super().__init__()
        self.h, self.attention, self.dropout = h, attention, dropout
        self.q, self.k, self.v, self.out = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x: Any) -> Any:
        """(b, T, d) to (b, T, d)."""
        q, k, v = (heads(project(x), self.h) for project in (self.q, self.k, self.v))
        return self.out(merged(attend(self.attention, q, k, v, self.dropout)))


class MLP(nn.Module):
    """Up, GELU, down."""

    def __init__(self, d: int, d_ff: int) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(d, d_ff), nn.Linear(d_ff, d)

    def forward(self, x: Any) -> Any:
        """(b, T, d) to (b, T, d)."""
        return self.down(F.gelu(self.up(x)))


class GPTLayer(nn.Module):
    """Pre-norm: LayerNorm and attention, LayerNorm and MLP, dropout after each half.

    Submodules have the names that the spec gives to its scopes and ops.
    """

    def __init__(self, d: int, h: int, d_ff: int, attention: str, dropout: float) -> None:
        super().__init__()
        self.norms = nn.ModuleDict(
            {"before_attention": nn.LayerNorm(d), "before_mlp": nn.LayerNorm(d)}
        )
        self.attention, self.mlp = Attention(d, h, attention, dropout), MLP(d, d_ff)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor) -> Any:
        """(b, T, d) to (b, T, d)."""
        x = x + self.dropout(self.attention(self.norms["before_attention"](x)))
        return x + self.dropout(self.mlp(self.norms["before_mlp"](x)))


@add_reference("gpt", model="gpt-3-175b", tokens=2048)
def gpt(d: int, h: int, d_ff: int, attention: str, dropout: bool) -> nn.Module:
    """A GPT layer with the options of the spec."""
    return GPTLayer(d, h, d_ff, attention, DROPOUT if dropout else 0.0)
