"""Each op of the specs beside the PyTorch function that it describes."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F

from membill.audit.references import counterpart
from membill.spec import FLOAT32, Tensor, constant, index
from membill.symbols import T, V, b, d, d_ff, d_k, d_r, d_v, h, n_kv
from membill_specs import ops
from membill_specs.torch_reference.llama import rotated
from membill_specs.torch_reference.swiglu import FusedSwiGLU

TOKENS = (b, T, d)
QUERIES = (b, T, h, d_k)
KEYS = (b, T, n_kv, d_k)
SCORES = (b, h, T, T)


@counterpart("linear", call=lambda x: ops.linear(x, d_ff), x=TOKENS)
def linear(x: Any, weight: Any) -> Any:
    """A weight in (in, out), as the spec writes it."""
    return F.linear(x, weight.T)


@counterpart("linear", "bias", call=lambda x: ops.linear(x, d_ff, bias=True), x=TOKENS)
def linear_bias(x: Any, weight: Any, bias: Any) -> Any:
    """With a bias."""
    return F.linear(x, weight.T, bias)


@counterpart("linear", "heads", call=lambda x: ops.linear(x, d), x=QUERIES)
def linear_of_heads(x: Any, weight: Any) -> Any:
    """All heads contracted at once."""
    return F.linear(x.flatten(2), weight.flatten(0, 1).T)


@counterpart("layer_norm", call=ops.layer_norm, x=TOKENS)
def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    """PyTorch's own."""
    return F.layer_norm(x, x.shape[-1:], weight, bias)


@counterpart("rms_norm", call=ops.rms_norm, x=TOKENS)
def rms_norm(x: Any, weight: Any) -> Any:
    """PyTorch's own."""
    return F.rms_norm(x, x.shape[-1:], weight)


@counterpart("gelu", call=ops.gelu, x=TOKENS)
def gelu(x: Any) -> Any:
    """PyTorch's own."""
    return F.gelu(x)


@counterpart("gelu", "tanh", call=ops.gelu, x=TOKENS)
def gelu_tanh(x: Any) -> Any:
    """The approximation that GPT-2 uses, in one kernel."""
    return F.gelu(x, approximate="tanh")


@counterpart("sigmoid", call=ops.sigmoid, x=TOKENS)
def sigmoid(x: Any) -> Any:
    """PyTorch's own."""
    return torch.sigmoid(x)


@counterpart("silu", call=ops.silu, x=TOKENS)
def silu(x: Any) -> Any:
    """PyTorch's own."""
    return F.silu(x)


@counterpart("relu", call=ops.relu, x=TOKENS)
def relu(x: Any) -> Any:
    """PyTorch's own."""
    return F.relu(x)


@counterpart("tanh", call=ops.tanh, x=TOKENS)
def tanh(x: Any) -> Any:
    """PyTorch's own."""
    return torch.tanh(x)


@counterpart("swiglu", call=ops.swiglu, gate=TOKENS, up=TOKENS)
def swiglu(gate: Any, up: Any) -> Any:
    """One kernel."""
    return FusedSwiGLU.apply(gate, up)


@counterpart("softmax", call=ops.softmax, x=SCORES)
def softmax(x: Any) -> Any:
    """PyTorch's own."""
    return F.softmax(x, dim=-1)


@counterpart("dropout", call=ops.dropout, x=TOKENS)
def dropout(x: Any) -> Any:
    """PyTorch's own."""
    return F.dropout(x, 0.1)


# A product of matrices whose heads are not the second axis in memory first copies them, and the
# copies are kept instead: as many bytes. Here they are, so that an input is seen to be itself.
@counterpart(
    "attention_scores", call=ops.attention_scores, heads_first=("q", "k"), q=QUERIES, k=QUERIES
)
def attention_scores(q: Any, k: Any) -> Any:
    """Scaled by a number, which keeps nothing."""
    return q.transpose(1, 2) @ k.transpose(1, 2).transpose(2, 3) / q.shape[-1] ** 0.5


@counterpart(
    "attention_context", call=ops.attention_context, heads_first=("v",), p=SCORES, v=QUERIES
)
def attention_context(p: Any, v: Any) -> Any:
    """The weighted sum of the values."""
    return (p @ v.transpose(1, 2)).transpose(1, 2)


@counterpart("flash_attention", call=ops.flash_attention, q=QUERIES, k=KEYS, v=KEYS)
def flash_attention(q: Any, k: Any, v: Any) -> Any:
    """PyTorch's own, key-value heads shared."""
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    return out.transpose(1, 2)


@counterpart(
    "flash_attention",
    "narrower values",
    call=ops.flash_attention,
    q=QUERIES,
    k=QUERIES,
    v=(b, T, h, d_v),
)
def flash_attention_narrower(q: Any, k: Any, v: Any) -> Any:
    """As FlashAttention-3 and cuDNN take them."""
    return flash_attention(q, k, v)


@counterpart("flash_attention", "dropout", call=ops.flash_attention, q=QUERIES, k=KEYS, v=KEYS)
def flash_attention_dropout(q: Any, k: Any, v: Any) -> Any:
    """Dropout within the kernel."""
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    out = F.scaled_dot_product_attention(q, k, v, dropout_p=0.1, is_causal=True, enable_gqa=True)
    return out.transpose(1, 2)


@counterpart("embedding", call=lambda: ops.embedding(index("ids", b, T), V, d))
def embedding(ids: Any, weight: Any) -> Any:
    """PyTorch's own."""
    return F.embedding(ids, weight)


@counterpart(
    "cross_entropy", call=lambda x: ops.cross_entropy(x, index("labels", b, T)), x=(b, T, V)
)
def cross_entropy(x: Any, labels: Any) -> Any:
    """PyTorch's own, the mean over all tokens."""
    return F.cross_entropy(x.flatten(0, 1), labels.flatten())


def _rotary(x: Tensor) -> Tensor:
    return ops.rotary(x, constant("cos", T, d_k), constant("sin", T, d_k))


@counterpart("rotary", call=_rotary, x=QUERIES)
def rotary(x: Any, cos: Any, sin: Any) -> Any:
    """Two products and a sum; the tables have one row a token."""
    return rotated(x, cos[:, None], sin[:, None])


# These keep nothing of their own. What follows shows whose storage the result is: the input's, or
# a new one.
@counterpart("repeat_heads", call=lambda x: ops.gelu(ops.repeat_heads(x, 2 * n_kv)), x=KEYS)
def repeat_heads(x: Any) -> Any:
    """Each head twice."""
    return F.gelu(x.repeat_interleave(2, dim=2))


@counterpart("copy", call=lambda x: ops.gelu(ops.copy(x)), x=TOKENS)
def copy(x: Any) -> Any:
    """PyTorch's own."""
    return F.gelu(x.clone())


@counterpart(
    "concatenate", call=lambda x, y: ops.gelu(ops.concatenate(x, y)), x=QUERIES, y=(b, T, h, d_r)
)
def concatenate(x: Any, y: Any) -> Any:
    """PyTorch's own."""
    return F.gelu(torch.cat((x, y), dim=-1))


@counterpart(
    "concatenate",
    "a head that all share",
    call=lambda x, y: ops.gelu(ops.concatenate(x, y)),
    x=QUERIES,
    y=(b, T, 1, d_r),
)
def concatenate_shared(x: Any, y: Any) -> Any:
    """Expanded first, which costs nothing."""
    return F.gelu(torch.cat((x, y.expand(*x.shape[:-1], -1)), dim=-1))


@counterpart("part", call=lambda x: ops.gelu(ops.part(x, d_k)), x=QUERIES)
def part(x: Any) -> Any:
    """One head of all, as a view."""
    return F.gelu(x[:, :, 0])


@counterpart("take", call=lambda x: ops.gelu(ops.take(x, 1, d_k)), x=QUERIES)
def take(x: Any) -> Any:
    """One head of all, by a list."""
    return F.gelu(x[:, :, [-1]])


@counterpart("regroup", call=lambda x: ops.rms_norm(ops.regroup(x, 3)), x=QUERIES)
def regroup(x: Any, weight: Any) -> Any:
    """A norm over each head."""
    return F.rms_norm(x, x.shape[-1:], weight)


@counterpart("cast", call=lambda x: ops.gelu(ops.cast(x, FLOAT32)), x=TOKENS)
def cast(x: Any) -> Any:
    """To float32; in float32 there is nothing to do."""
    return F.gelu(x.to(torch.float32))


@counterpart("add", call=ops.add, x=TOKENS, y=TOKENS)
def add(x: Any, y: Any) -> Any:
    """PyTorch's own."""
    return x + y


@counterpart("multiply", call=ops.multiply, x=TOKENS, y=TOKENS)
def multiply(x: Any, y: Any) -> Any:
    """PyTorch's own."""
    return x * y


@counterpart("multiply", "one number per token", call=ops.multiply, x=TOKENS, y=(b, T))
def multiply_per_token(x: Any, y: Any) -> Any:
    """The number is broadcast over the features."""
    return x * y.unsqueeze(-1)


@counterpart("divide", call=ops.divide, x=TOKENS, y=(b, T))
def divide(x: Any, y: Any) -> Any:
    """The number is broadcast over the features."""
    return x / y.unsqueeze(-1)


@counterpart("scale", call=ops.scale, x=TOKENS)
def scale(x: Any, weight: Any) -> Any:
    """A gain per feature."""
    return weight * x


@counterpart("scale_from_one", call=ops.scale_from_one, x=TOKENS)
def scale_from_one(x: Any, weight: Any) -> Any:
    """As Gemma's norms do it."""
    return x * (1 + weight)


@counterpart("affine", call=ops.affine, x=TOKENS)
def affine(x: Any) -> Any:
    """Numbers, not tensors."""
    return 3.0 * x + 1.0


@counterpart("cube", call=ops.cube, x=TOKENS)
def cube(x: Any) -> Any:
    """PyTorch's own."""
    return torch.pow(x, 3.0)


@counterpart("square", call=ops.square, x=TOKENS)
def square(x: Any) -> Any:
    """PyTorch's own."""
    return x.pow(2)


@counterpart("rsqrt", call=ops.rsqrt, x=TOKENS)
def rsqrt(x: Any) -> Any:
    """PyTorch's own."""
    return torch.rsqrt(x)


@counterpart("mean", call=ops.mean, x=TOKENS)
def mean(x: Any) -> Any:
    """PyTorch's own."""
    return x.mean(-1)


@counterpart("sum_over", call=lambda x: ops.sum_over(x, -1), x=TOKENS)
def sum_over(x: Any) -> Any:
    """PyTorch's own."""
    return x.sum(-1)
