"""The layer of Mixtral in plain PyTorch."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from membill.audit.references import add_reference
from membill_specs.torch_reference.llama import DROPOUT, NORMS, Attention
from membill_specs.torch_reference.swiglu import FusedSwiGLU


def ends_of_groups(groups: Any, count: int) -> Any:
    """Where the rows of each of `count` groups end, given the group of each row: int32."""
    sizes = torch.histc(groups.float(), bins=count, min=0, max=count - 1)
    return sizes.cumsum(0, dtype=torch.int32)


class Router(nn.Module):
    """The weights of the k likeliest experts of each token, and which they are."""

    def __init__(self, d: int, E: int, k: int) -> None:
        super().__init__()
        self.logits = nn.Linear(d, E, bias=False)
        self.k = k

    def forward(self, x: Any) -> tuple[Any, Any]:
        """(n, d) to (n, k) in float32 and (n, k) of int64."""
        chosen, experts = F.softmax(self.logits(x).float(), dim=-1).topk(self.k)
        return chosen / chosen.sum(-1, keepdim=True), experts


class GroupedLinear(nn.Module):
    """A weight for each group of rows."""

    def __init__(self, groups: int, width: int, out: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(groups, width, out) * width**-0.5)

    def forward(self, x: Any, ends: Any) -> Any:
        """(n, width) to (n, out); rows of group g end at ends[g]."""
        return F.grouped_mm(x, self.weight, offs=ends)


class Experts(nn.Module):
    """All experts at once, on tokens in the order of their experts."""

    def __init__(self, d: int, d_e: int, E: int, swiglu: str) -> None:
        super().__init__()
        self.count, self.swiglu = E, swiglu
        self.gate_up, self.down = GroupedLinear(E, d, 2 * d_e), GroupedLinear(E, d_e, d)

    def forward(self, x: Any, weights: Any, experts: Any) -> Any:
        """(n, d) to (n, d)."""
        n, k = experts.shape
        groups, order = experts.flatten().sort()
        ends = ends_of_groups(groups, self.count)
        gate, up = self.gate_up(x[order // k], ends).chunk(2, dim=-1)
        fused = self.swiglu == "fused"
        y = self.down(FusedSwiGLU.apply(gate, up) if fused else F.silu(gate) * up, ends)
        y = y * weights.flatten()[order, None]
        return y[order.argsort()].view(n, k, -1).sum(1).to(x.dtype)


class MixtralLayer(nn.Module):
    """Pre-norm: RMSNorm and attention, RMSNorm and experts.

    Submodules have the names that the spec gives to its scopes and ops.
    """

    def __init__(
        self, norm: str, d: int, attention: nn.Module, router: nn.Module, experts: nn.Module
    ) -> None:
        super().__init__()
        self.norms = nn.ModuleDict(
            {"before_attention": NORMS[norm](d), "before_experts": NORMS[norm](d)}
        )
        self.attention, self.router, self.experts = attention, router, experts

    def forward(self, x: Any) -> Any:
        """(b, T, d) to (b, T, d)."""
        x = x + self.attention(self.norms["before_attention"](x))
        tokens = self.norms["before_experts"](x).flatten(0, 1)
        return x + self.experts(tokens, *self.router(tokens)).view_as(x)


@add_reference("mixtral", model="mixtral-8x7b", tokens=8192)
def mixtral(
    *,
    T: int,
    d: int,
    h: int,
    n_kv: int,
    d_e: int,
    E: int,
    k: int,
    attention: str,
    norm: str,
    swiglu: str,
    dropout: bool,
) -> nn.Module:
    """A Mixtral layer with the options of the spec."""
    rate = DROPOUT if dropout else 0.0
    core = Attention(d=d, h=h, n_kv=n_kv, tokens=T, attention=attention, dropout=rate)
    return MixtralLayer(norm, d, core, Router(d, E, k), Experts(d, d_e, E, swiglu))
