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
Later = Callable[[], Tensor]
Gated = Callable[[Tensor, Later], Tensor]


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
        return multiply(half, affine(bend, name="one_plus", shifts=True), name="product")


@choice("gelu", "fused")
def fused_gelu(x: Tensor) -> Tensor:
    """x Φ(x) as one kernel."""
    return gelu(x)


@choice("gelu", "fast")
def fast_gelu(x: Tensor) -> Tensor:
    """x/2 (1 + tanh(0.797885 x (1 + 0.044715 x²))), op by op, as Hugging Face's `gelu_fast`."""
    with scope("gelu"):
        half, inner = affine(x, name="half"), affine(x, name="scaled")
        square = multiply(affine(x, name="shrunk"), x, name="square")
        inner = multiply(inner, affine(square, name="from_one", shifts=True), name="inner")
        return multiply(half, affine(tanh(inner), name="one_plus", shifts=True), name="product")


@choice("swiglu", "eager")
def eager_swiglu(gate: Tensor, up: Later) -> Tensor:
    """silu(gate) ⊙ up as two ops; the product needs silu(gate) kept."""
    return multiply(silu(gate), up(), name="product")


@choice("swiglu", "fused")
def fused_swiglu(gate: Tensor, up: Later) -> Tensor:
    """silu(gate) ⊙ up as one kernel."""
    return swiglu(gate, up())


def eager_geglu(gate: Tensor, up: Later) -> Tensor:
    """gelu(gate) ⊙ up as two ops. GELU's tanh form, where it is one kernel, keeps the same."""
    return multiply(gelu(gate), up(), name="product")


def gated_mlp(
    x: Tensor,
    width: sympy.Expr,
    *,
    gated: Gated = eager_swiglu,
    fused_projection: bool = False,
    bias: bool = False,
) -> Tensor:
    """Gate and up projections, their gated product (SwiGLU unless told), and down.

    fused_projection: gate and up are the halves of one projection's output. If they have one each,
    up comes after the activation of gate, and so before it in backward.
    """
    if fused_projection:
        both = linear(x, 2 * width, name="gate_up", bias=bias)
        gate, up = part(both, width, name="gate"), part(both, width, name="up")
        y = gated(gate, lambda: up)
    else:
        gate = linear(x, width, name="gate", bias=bias)
        y = gated(gate, lambda: linear(x, width, name="up", bias=bias))
    return linear(y, *x.features, name="down", bias=bias)
