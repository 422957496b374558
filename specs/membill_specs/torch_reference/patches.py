"""The ops of an image's patches beside PyTorch's."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F

from membill.audit.references import counterpart
from membill.spec import data
from membill.symbols import P, T, b, d, d_p
from membill_specs import ops

TOKENS = (b, T, d)


@counterpart("patch_embedding", call=lambda: ops.patch_embedding(data("patches", b, T, d_p), d))
def patch_embedding(patches: Any, weight: Any, bias: Any) -> Any:
    """A convolution along the row of patches."""
    kernel = weight.T[:, None, None]
    y = F.conv2d(patches[:, None], kernel, bias, stride=(1, patches.shape[-1]))
    return y.flatten(2).transpose(1, 2)


# These keep nothing of their own; what follows shows whose storage the result is.
@counterpart("prepend_row", call=lambda x: ops.gelu(ops.prepend_row(x)), x=TOKENS)
def prepend_row(x: Any, weight: Any) -> Any:
    """PyTorch's own."""
    return F.gelu(torch.cat([weight.expand(x.shape[0], 1, -1), x], dim=1))


@counterpart("add_rows", call=lambda x: ops.gelu(ops.add_rows(x, P)), x=(b, P, d))
def add_rows(x: Any, weight: Any) -> Any:
    """PyTorch's own."""
    return F.gelu(x + weight)


@counterpart("first_token", call=lambda x: ops.gelu(ops.first_token(x)), x=TOKENS)
def first_token(x: Any) -> Any:
    """A view."""
    return F.gelu(x[:, 0])
