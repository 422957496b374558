"""The head and the loss in one: small functions that keep what fused kernels keep."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F

from membill.audit.references import counterpart
from membill.spec import index
from membill.symbols import T, V, b, d
from membill_specs import ops

TOKENS = (b, T, d)


class InForward(torch.autograd.Function):
    """As Liger Kernel's: gradients of the mean loss are computed in forward, and scaled later.

    That does it by chunks of tokens, so as never to hold all logits; what it keeps is the same.
    """

    @staticmethod
    def forward(ctx: Any, x: Any, labels: Any, weight: Any, bias: Any) -> Any:
        """The mean loss."""
        wanted = [x, weight, *([] if bias is None else [bias])]
        asked = [ctx.needs_input_grad[place] for place in (0, 2, 3)]
        with torch.enable_grad():
            own = [tensor.detach().requires_grad_() for tensor in wanted]
            logits = F.linear(own[0], own[1].T, *own[2:])
            loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten())
            found = torch.autograd.grad(loss, own)
        kept = [item if ask else None for item, ask in zip(found[1:], asked[1:], strict=False)]
        ctx.save_for_backward(found[0], *kept)
        return loss.detach()

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        """What is kept, times the gradient of the loss."""
        x, weight, *bias = (None if item is None else item * gradient for item in ctx.saved_tensors)
        return x, None, weight, *(bias or [None])


class Again(torch.autograd.Function):
    """As Cut Cross-Entropy: backward computes the logits again from what is kept.

    That does it by blocks, so as never to hold all logits, in the order of their means; what it
    keeps is the same.
    """

    @staticmethod
    def forward(ctx: Any, x: Any, labels: Any, weight: Any, bias: Any) -> Any:
        """The mean loss."""
        logits = F.linear(x, weight.T, bias).float()
        lse = logits.logsumexp(-1)
        ctx.save_for_backward(x, labels, weight, bias, lse, logits.mean((0, 1)))
        return (lse - logits.gather(-1, labels[..., None])[..., 0]).mean().to(x.dtype)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        """Probabilities from the logits, then the products."""
        x, labels, weight, bias, lse, _ = ctx.saved_tensors
        p = (F.linear(x, weight.T, bias).float() - lse[..., None]).exp()
        p.scatter_add_(-1, labels[..., None], -torch.ones_like(lse)[..., None])
        g = (p * gradient / lse.numel()).to(x.dtype)
        both = x.flatten(0, 1).T @ g.flatten(0, 1)
        return g @ weight.T, None, both, None if bias is None else g.sum((0, 1))


@counterpart(
    "fused_linear_cross_entropy",
    call=lambda x: ops.fused_linear_cross_entropy(x, index("labels", b, T), V),
    x=TOKENS,
)
def in_forward(x: Any, labels: Any, weight: Any) -> Any:
    """Without a bias."""
    return InForward.apply(x, labels, weight, None)


@counterpart(
    "fused_linear_cross_entropy",
    "bias",
    call=lambda x: ops.fused_linear_cross_entropy(x, index("labels", b, T), V, bias=True),
    x=TOKENS,
)
def in_forward_bias(x: Any, labels: Any, weight: Any, bias: Any) -> Any:
    """With a bias."""
    return InForward.apply(x, labels, weight, bias)


@counterpart(
    "cut_cross_entropy",
    call=lambda x: ops.cut_cross_entropy(x, index("labels", b, T), V),
    x=TOKENS,
)
def again(x: Any, labels: Any, weight: Any) -> Any:
    """Without a bias."""
    return Again.apply(x, labels, weight, None)


@counterpart(
    "cut_cross_entropy",
    "bias",
    call=lambda x: ops.cut_cross_entropy(x, index("labels", b, T), V, bias=True),
    x=TOKENS,
)
def again_bias(x: Any, labels: Any, weight: Any, bias: Any) -> Any:
    """With a bias."""
    return Again.apply(x, labels, weight, bias)
