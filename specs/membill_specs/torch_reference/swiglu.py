"""SwiGLU in one kernel, as Liger Kernel's LigerSiLUMulFunction saves for it."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F


class FusedSwiGLU(torch.autograd.Function):
    """silu(gate) times up; keeps both, and computes silu(gate) again in backward."""

    @staticmethod
    def forward(ctx: Any, gate: Any, up: Any) -> Any:
        """The product, in the shape of gate."""
        ctx.save_for_backward(gate, up)
        return F.silu(gate) * up

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> tuple[Any, Any]:
        """The gradients of gate and up."""
        gate, up = ctx.saved_tensors
        sigmoid = torch.sigmoid(gate)
        silu = gate * sigmoid
        return gradient * up * (sigmoid + silu * (1 - sigmoid)), gradient * silu
