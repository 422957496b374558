"""Mixture of experts: which experts a token goes to, and what they make of it."""

import sympy

from membill.spec import FLOAT32, Tensor, scope
from membill_specs.blocks.mlp import Gated, eager_swiglu
from membill_specs.ops import (
    affine,
    biased_top_k,
    cast,
    divide,
    gather_rows,
    group_ends,
    grouped_linear,
    linear,
    multiply,
    part,
    regroup,
    sigmoid,
    softmax,
    sum_over,
    top_k,
)


def softmax_router(
    x: Tensor, experts: object, count: object, *, normalised: bool = True, cast_back: bool = False
) -> Tensor:
    """The weights of the `count` likeliest experts of each token: (b, T, count) in float32.

    The softmax of the largest logits, computed as the largest of the softmax over their sum; if
    not normalised, not over their sum. cast_back: they are cast to the dtype of the logits.
    """
    logits = linear(x, experts, name="logits")
    chosen = top_k(softmax(cast(logits, FLOAT32, name="float32")), count)
    if normalised:
        chosen = divide(chosen, sum_over(chosen, -1, name="sum"), name="weights")
    return cast(chosen, logits.dtype) if cast_back else chosen


def sigmoid_router(x: Tensor, experts: object, count: object) -> Tensor:
    """The weights of the `count` experts that score best with a bias: (b, T, count) in float32.

    The router's own weights are float32, too. That groups of experts are chosen first keeps
    nothing.
    """
    logits = linear(cast(x, FLOAT32, name="float32"), experts, name="logits")
    chosen = biased_top_k(sigmoid(logits), count, name="chosen")
    divisor = affine(sum_over(chosen, -1, name="sum"), name="divisor")
    return affine(divide(chosen, divisor, name="shares"), name="weights")


def gated_experts(
    x: Tensor,
    weights: Tensor,
    experts: object,
    width: sympy.Expr,
    *,
    gated: Gated = eager_swiglu,
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
    y = grouped_linear(gated(gate, lambda: up), ends, *x.features, name="down")
    with scope("combine"):
        weighted = multiply(y, sorted_weights, name="weighted")
        y = sum_over(gather_rows(weighted, name="tokens"), 2, name="sum")
        return cast(y, x.dtype)
