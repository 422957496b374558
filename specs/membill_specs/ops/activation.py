"""Activation functions."""

from membill.spec import Declared, Tensor, needs, op


@op(source="PyTorch derivatives.yaml: gelu")
def gelu(x: Tensor) -> Declared:
    """y = x Φ(x)."""
    return x.like(), {x: needs(x, tex=r"\bar x = \bar y \odot \mathrm{gelu}'(x)")}


@op(source="PyTorch derivatives.yaml: silu")
def silu(x: Tensor) -> Declared:
    """y = x σ(x). The sigmoid is computed again in backward."""
    return x.like(), {x: needs(x, tex=r"\bar x = \bar y \odot \mathrm{silu}'(x)")}


@op(source="Liger Kernel: LigerSiLUMulFunction")
def swiglu(gate: Tensor, up: Tensor) -> Declared:
    """y = silu(gate) ⊙ up in one kernel; silu(gate) is computed again in backward."""
    return gate.like(), {
        gate: needs(gate, up, tex=r"\bar g = \bar y \odot u \odot \mathrm{silu}'(g)"),
        up: needs(gate, tex=r"\bar u = \bar y \odot \mathrm{silu}(g)"),
    }
