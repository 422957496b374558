"""Feed-forward blocks."""

from collections.abc import Callable

from membill.spec import Tensor, choice

from membill_specs.ops import gelu, linear, multiply, silu, swiglu


def gelu_mlp(x: Tensor, width: object, *, bias: bool = False) -> Tensor:
    """Up to `width`, GELU, and down again."""
    y = gelu(linear(x, width, name="up", bias=bias))
    return linear(y, *x.features, name="down", bias=bias)


@choice("swiglu", "eager")
def eager_swiglu(gate: Tensor, up: Tensor) -> Tensor:
    """silu(gate) ⊙ up as two ops; the product needs silu(gate) kept."""
    return multiply(silu(gate), up, name="product")


@choice("swiglu", "fused")
def fused_swiglu(gate: Tensor, up: Tensor) -> Tensor:
    """silu(gate) ⊙ up as one kernel."""
    return swiglu(gate, up)


def swiglu_mlp(
    x: Tensor, width: object, *, swiglu: Callable[[Tensor, Tensor], Tensor] = eager_swiglu
) -> Tensor:
    """Gate and up projections, their gated product, and down again; no bias."""
    y = swiglu(linear(x, width, name="gate"), linear(x, width, name="up"))
    return linear(y, *x.features, name="down")
