"""Mixture of experts: which experts a token goes to, and what they make of it."""

from collections.abc import Callable

import sympy

from membill.spec import FLOAT32, Tensor, scope
from membill_specs.blocks.mlp import eager_swiglu
from membill_specs.ops import (
    cast,
    divide,
    gather_rows,
    group_ends,
    grouped_linear,
    linear,
    multiply,
    part,
    regroup,
    softmax,
    sum_over,
    top_k,
)


def softmax_router(x: Tensor, experts: object, count: object) -> Tensor:
    """The weights of the `count` likeliest experts of each token: (b, T, count) in float32.

    The softmax of the largest logits, computed as the largest of the softmax over their sum.
    """
    logits = linear(x, experts, name="logits")
    chosen = top_k(softmax(cast(logits, FLOAT32, name="float32")), count)
    return divide(chosen, sum_over(chosen, -1, name="sum"), name="weights")


def gated_experts(
    x: Tensor,
    weights: Tensor,
    experts: object,
    width: sympy.Expr,
    *,
    gated: Callable[[Tensor, Tensor], Tensor] = eager_swiglu,
) -> Tensor:
    """Each token through its experts, of a gated feed-forward layer each; their weighted sum.

    Tokens are copied in the order of their experts, so that each of two products runs all experts
    at once, and put back before the sum.
    """
    ends = group_ends(weights, experts)
    with scope("dispatch"):
        tokens = gather_rows(x, weights.shape[-1], name="tokens")
        sorted_weights = gather_rows(regroup(weights, 3, name="rows"), name="weights")
    both = grouped_linear(tokens, ends, 2 * width, name="gate_up")
    gate, up = part(both, width, name="gate"), part(both, width, name="up")
    y = grouped_linear(gated(gate, up), ends, *x.features, name="down")
    with scope("combine"):
        weighted = multiply(y, sorted_weights, name="weighted")
        y = sum_over(gather_rows(weighted, name="tokens"), 2, name="sum")
        return cast(y, x.dtype)
