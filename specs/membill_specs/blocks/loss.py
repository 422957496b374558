"""What language models end with: logits and the cross-entropy of the next token."""

from collections.abc import Callable

from membill.spec import FLOAT32, Tensor, choice, held, index, scope
from membill.symbols import T, V, b
from membill_specs.blocks.attention import identity
from membill_specs.blocks.norm import hugging_face_rms_norm
from membill_specs.ops import (
    cast,
    cross_entropy,
    cut_cross_entropy,
    fused_linear_cross_entropy,
    layer_norm,
    linear,
)

OUTPUT = "logits and loss"
"""What a bill calls that which they keep."""

LOGITS = "loss.logits.weight"
"""The label of the weight that a model may tie to its embedding."""

Unary = Callable[[Tensor], Tensor]


@choice("loss", "eager")
def eager_loss(x: Tensor, *, bias: bool = False, cap: Unary = identity) -> Tensor:
    """Logits, their float32 copy, and the loss against the labels moved by one token.

    As transformers 5.24's ForCausalLMLoss, which pads the labels by one and copies their tail.
    cap: what is done to the logits (`soft_cap`), here and below. The model returns the logits, too.
    """
    with scope("loss"):
        logits = held(cap(linear(x, V, name="logits", bias=bias)))
        return cross_entropy(cast(logits, FLOAT32, name="float32"), index("labels", b, T))


@choice("loss", "eager-one-sequence")
def one_sequence_loss(x: Tensor, *, bias: bool = False, cap: Unary = identity) -> Tensor:
    """As `eager` with b = 1: the tail is contiguous as it is, and the padded labels are kept."""
    with scope("loss"):
        logits = held(cap(linear(x, V, name="logits", bias=bias)))
        return cross_entropy(cast(logits, FLOAT32, name="float32"), index("labels", b, T + 1))


@choice("loss", "compute")
def compute_loss(x: Tensor, *, bias: bool = False, cap: Unary = identity) -> Tensor:
    """Logits and the loss in the compute dtype, without a float32 copy.

    As PyTorch's cross_entropy on what the head gives.
    """
    with scope("loss"):
        logits = held(cap(linear(x, V, name="logits", bias=bias)))
        return cross_entropy(logits, held(index("labels", b, T)))


@choice("loss", "fused")
def fused_loss(x: Tensor, *, bias: bool = False, cap: Unary = identity) -> Tensor:
    """Head and loss in one, chunk by chunk of tokens; gradients are computed in forward and kept.

    As Liger Kernel's LigerFusedLinearCrossEntropyFunction, which caps within itself: the logits
    of all tokens never are there at once.
    """
    with scope("loss"):
        return fused_linear_cross_entropy(x, index("labels", b, T), V, bias=bias, name="logits")


@choice("loss", "chunked")
def chunked_loss(x: Tensor, *, bias: bool = False, cap: Unary = identity) -> Tensor:
    """Head and loss in one, block by block; backward computes the logits again.

    As Cut Cross-Entropy (Wijmans et al. 2024), which caps within itself: of the logits a number
    per token is kept.
    """
    with scope("loss"):
        return cut_cross_entropy(x, index("labels", b, T), V, bias=bias, name="logits")


def rms_norm_head(
    x: Tensor,
    *,
    norm: Callable[..., Tensor] = hugging_face_rms_norm,
    loss: Callable[..., Tensor] = eager_loss,
) -> Tensor:
    """The final RMSNorm, logits and the loss; no bias."""
    return loss(norm(x, name="final_norm"))


def layer_norm_head(x: Tensor, *, loss: Callable[..., Tensor] = eager_loss) -> Tensor:
    """The final LayerNorm, logits and the loss; no bias."""
    return loss(layer_norm(x, name="final_norm"))
