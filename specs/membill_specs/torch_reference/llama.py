"""The layer of Llama 2 and Llama 3 in plain PyTorch."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from membill.audit.references import add_reference
from membill.layers import Layer
from membill_specs.torch_reference.attention import attend, heads, merged
from membill_specs.torch_reference.swiglu import FusedSwiGLU

DROPOUT = 0.1


class HuggingFaceRMSNorm(nn.Module):
    """RMSNorm as Hugging Face writes it: in float32, op by op."""

    def __init__(self, d: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))

    def forward(self, x: Any) -> Any:
        """(b, T, d) to (b, T, d)."""
        wide = x.to(torch.float32)
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * wide.to(x.dtype)


NORMS = {"fused": nn.RMSNorm, "hugging-face": HuggingFaceRMSNorm}


def rotated(x: Any, cos: Any, sin: Any) -> Any:
    """Rotate pairs of entries, one from each half of a head, by the token's angles."""
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


class Attention(nn.Module):
    """Grouped-query attention with rotary positions."""

    def __init__(
        self, *, d: int, h: int, n_kv: int, tokens: int, attention: str, dropout: float
    ) -> None:
        super().__init__()
        d_k = d // h
        self.h, self.n_kv, self.attention, self.dropout = h, n_kv, attention, dropout
        self.q, self.out = nn.Linear(d, d, bias=False), nn.Linear(d, d, bias=False)
        self.k, self.v = (nn.Linear(d, n_kv * d_k, bias=False) for _ in range(2))
        pace = 10000.0 ** (-torch.arange(0, d_k, 2, dtype=torch.float32) / d_k)
        angles = torch.outer(torch.arange(tokens, dtype=torch.float32), pace).repeat(1, 2)
        dtype = torch.get_default_dtype()
        self.register_buffer("cos", angles.cos().to(dtype))
        self.register_buffer("sin", angles.sin().to(dtype))

    def forward(self, x: Any) -> Any:
        """(b, T, d) to (b, T, d)."""
        q = rotated(heads(self.q(x), self.h), self.cos, self.sin)
        k = rotated(heads(self.k(x), self.n_kv), self.cos, self.sin)
        v = heads(self.v(x), self.n_kv)
        return self.out(merged(attend(self.attention, q, k, v, self.dropout)))


class MLP(nn.Module):
    """SwiGLU: the product of silu(gate) and up, eager or fused, then down."""

    def __init__(self, d: int, d_ff: int, swiglu: str) -> None:
        super().__init__()
        self.swiglu = swiglu
        self.gate, self.up = (nn.Linear(d, d_ff, bias=False) for _ in range(2))
        self.down = nn.Linear(d_ff, d, bias=False)

    def forward(self, x: Any) -> Any:
        """(b, T, d) to (b, T, d)."""
        gate, up = self.gate(x), self.up(x)
        fused = self.swiglu == "fused"
        return self.down(FusedSwiGLU.apply(gate, up) if fused else F.silu(gate) * up)


class LlamaLayer(nn.Module):
    """Pre-norm: RMSNorm and attention, RMSNorm and SwiGLU.

    Submodules have the names that the spec gives to its scopes and ops.
    """

    def __init__(self, norm: str, d: int, attention: nn.Module, mlp: nn.Module) -> None:
        super().__init__()
        self.norms = nn.ModuleDict(
            {"before_attention": NORMS[norm](d), "before_mlp": NORMS[norm](d)}
        )
        self.attention, self.mlp = attention, mlp

    def forward(self, x: Any) -> Any:
        """(b, T, d) to (b, T, d)."""
        x = x + self.attention(self.norms["before_attention"](x))
        return x + self.mlp(self.norms["before_mlp"](x))


def without_bias(layer: Layer) -> bool:
    """Whether a variant is one of those that the module here has."""
    return not layer.chosen["attention_bias"] and not layer.chosen["mlp_bias"]


@add_reference("llama", model="llama-3-8b", tokens=8192, covers=without_bias)
def llama(
    *,
    T: int,
    d: int,
    h: int,
    n_kv: int,
    d_ff: int,
    attention: str,
    norm: str,
    swiglu: str,
    dropout: bool,
) -> nn.Module:
    """A Llama layer with the options of the spec, but for biases."""
    rate = DROPOUT if dropout else 0.0
    core = Attention(d=d, h=h, n_kv=n_kv, tokens=T, attention=attention, dropout=rate)
    return LlamaLayer(norm, d, core, MLP(d, d_ff, swiglu))
