"""Feed-forward blocks."""

from collections.abc import Callable

import sympy

from membill.spec import Tensor, choice, scope
from membill_specs.ops import (
    add,
    affine,
    cube,
    gelu,
    linear,
    multiply,
    part,
    silu,
    swiglu,
    tanh,
)

Unary = Callable[[Tensor], Tensor]


def gelu_mlp(x: Tensor, width: object, *, bias: bool = False, activation: Unary = gelu) -> Tensor:
    """Up to `width`, an activation (GELU unless told), and down again."""
    y = activation(linear(x, width, name="up", bias=bias))
    return linear(y, *x.features, name="down", bias=bias)


def gelu_by_tanh(x: Tensor) -> Tensor:
    """x/2 (1 + tanh(√(2/π) (x + 0.044715 x³))), op by op, as Hugging Face's `gelu_new`."""
    with scope("gelu"):
        half = affine(x, name="half")
        inner = add(x, affine(cube(x), name="third_order"), name="inner")
        bend = tanh(affine(inner, name="scaled"))
        return multiply(half, affine(bend, name="one_plus"), name="product")


@choice("swiglu", "eager")
def eager_swiglu(gate: Tensor, up: Tensor) -> Tensor:
    """silu(gate) ⊙ up as two ops; the product needs silu(gate) kept."""
    return multiply(silu(gate), up, name="product")


@choice("swiglu", "fused")
def fused_swiglu(gate: Tensor, up: Tensor) -> Tensor:
    """silu(gate) ⊙ up as one kernel."""
    return swiglu(gate, up)


def eager_geglu(gate: Tensor, up: Tensor) -> Tensor:
    """gelu(gate) ⊙ up as two ops. GELU's tanh form, where it is one kernel, keeps the same."""
    return multiply(gelu(gate), up, name="product")


def gated_mlp(
    x: Tensor,
    width: sympy.Expr,
    *,
    gated: Callable[[Tensor, Tensor], Tensor] = eager_swiglu,
    fused_projection: bool = False,
) -> Tensor:
    """Gate and up projections, their gated product (SwiGLU unless told), and down; no bias.

    fused_projection: gate and up are the halves of one projection's output.
    """
    if fused_projection:
        both = linear(x, 2 * width, name="gate_up")
        gate, up = part(both, width, name="gate"), part(both, width, name="up")
    else:
        gate, up = linear(x, width, name="gate"), linear(x, width, name="up")
    return linear(gated(gate, up), *x.features, name="down")
