"""The ops of mixtures of experts beside the PyTorch functions that they describe."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F

from membill.audit.references import counterpart
from membill.spec import Tensor
from membill.symbols import E, T, b, d_e
from membill_specs import ops
from membill_specs.torch_reference.mixtral import ends_of_groups
from membill_specs.torch_reference.ops import TOKENS


@counterpart("top_k", call=lambda x: ops.top_k(x, 2), x=TOKENS)
def top_k(x: Any) -> Any:
    """PyTorch's own."""
    return x.topk(2).values


@counterpart("biased_top_k", call=lambda x: ops.biased_top_k(x, 2), x=TOKENS)
def biased_top_k(x: Any, bias: Any) -> Any:
    """The sum is thrown away, and what its gradient would need with it."""
    return x.gather(-1, (x + bias).topk(2).indices)


@counterpart("gather_rows", call=lambda x: ops.gather_rows(x, 2), x=TOKENS)
def gather_rows(x: Any) -> Any:
    """Each token twice."""
    rows = x.flatten(0, 1)
    return rows[torch.arange(2 * len(rows)) // 2].view(*x.shape[:2], 2, -1)


@counterpart("group_ends", call=lambda x: ops.group_ends(x, E), x=(b, T, E))
def group_ends(x: Any) -> Any:
    """Each token goes to the group of its largest entry."""
    return ends_of_groups(x.argmax(-1).flatten(), x.shape[-1])


def _grouped_linear(x: Tensor) -> Tensor:
    return ops.grouped_linear(x, ops.group_ends(x, E), d_e)


@counterpart("grouped_linear", call=_grouped_linear, x=TOKENS)
def grouped_linear(x: Any, weight: Any) -> Any:
    """All rows in the first group, as well as anywhere."""
    rows = x.flatten(0, 1)
    ends = ends_of_groups(torch.zeros(len(rows)), len(weight))
    return F.grouped_mm(rows, weight, offs=ends).view(*x.shape[:2], -1)
