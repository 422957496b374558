"""The stand-ins for fused losses compute what PyTorch's op by op does."""

from typing import Any

import pytest

pytest.importorskip("torch", reason="the audit needs PyTorch")

import torch

from membill_specs.torch_reference.losses import Again, InForward


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("function", [InForward, Again])
def test_loss_and_gradients(function: Any, bias: bool) -> None:
    random = torch.Generator().manual_seed(0)
    made = (torch.randn(*shape, generator=random) for shape in ((2, 3, 4), (4, 7), (7,)))
    x, weight, shift = (tensor.requires_grad_() for tensor in made)
    labels = torch.randint(7, (2, 3), generator=random)
    wanted = (x, weight, shift) if bias else (x, weight)
    logits = torch.nn.functional.linear(x, weight.T, shift if bias else None)
    usual = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
    fused = function.apply(x, labels, weight, shift if bias else None)
    torch.testing.assert_close(fused, usual)
    gradients = (torch.autograd.grad(3 * loss, wanted) for loss in (usual, fused))
    for expected, found in zip(*gradients, strict=True):
        torch.testing.assert_close(found, expected)
