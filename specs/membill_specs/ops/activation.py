"""Activation functions."""

from membill.spec import Declared, Tensor, needs, op


@op(source="PyTorch derivatives.yaml: gelu")
def gelu(x: Tensor) -> Declared:
    """y = x Φ(x)."""
    return x.like(), {x: needs(x, tex=r"\bar x = \bar y \odot \mathrm{gelu}'(x)")}


@op(source="PyTorch derivatives.yaml: sigmoid")
def sigmoid(x: Tensor) -> Declared:
    """y = σ(x). The gradient is a formula in the output; the input can go."""
    y = x.like()
    return y, {x: needs(y, tex=r"\bar x = y \odot (1 - y) \odot \bar y")}


@op(source="PyTorch derivatives.yaml: silu")
def silu(x: Tensor) -> Declared:
    """y = x σ(x). The sigmoid is computed again in backward."""
    return x.like(), {x: needs(x, tex=r"\bar x = \bar y \odot \mathrm{silu}'(x)")}


@op(source="PyTorch derivatives.yaml: relu")
def relu(x: Tensor) -> Declared:
    """y = max(x, 0). The output tells where the input was positive; the input can go."""
    y = x.like()
    return y, {x: needs(y, tex=r"\bar x = \bar y \odot [y > 0]")}


@op(source="PyTorch derivatives.yaml: tanh")
def tanh(x: Tensor) -> Declared:
    """y = tanh(x). The gradient is a formula in the output; the input can go."""
    y = x.like()
    return y, {x: needs(y, tex=r"\bar x = \bar y \odot (1 - y^2)")}


@op(source="Liger Kernel: LigerSiLUMulFunction")
def swiglu(gate: Tensor, up: Tensor) -> Declared:
    """y = silu(gate) ⊙ up in one kernel; silu(gate) is computed again in backward.

    It keeps both inputs, whichever gradient is asked for, and writes the gradients over them.
    """
    return gate.like(), {
        gate: needs(
            gate, up, tex=r"\bar g = \bar y \odot u \odot \mathrm{silu}'(g)", released=[gate]
        ),
        up: needs(gate, up, tex=r"\bar u = \bar y \odot \mathrm{silu}(g)", released=[up]),
    }
