"""Phi-1, Phi-1.5 and Phi-2."""

from collections.abc import Callable

from membill.spec import Slot, Tensor, architecture, repeat
from membill.symbols import L, d_r
from membill_specs.blocks import identity
from membill_specs.blocks.embedding import frequencies, tokens
from membill_specs.blocks.loss import LOGITS, OUTPUT, eager_loss
from membill_specs.ops import dropout as dropout_op
from membill_specs.ops import layer_norm


def partly_rotated_tokens(*, dropout: bool = False) -> Tensor:
    """The embedding of each token, then dropout; d_r entries of a head are rotated by position."""
    frequencies(d_r)
    return (dropout_op if dropout else identity)(tokens())


def head(x: Tensor, *, loss: Callable[..., Tensor] = eager_loss) -> Tensor:
    """The final LayerNorm, logits with a bias, and the loss."""
    return loss(layer_norm(x, name="final_norm"), bias=True)


architecture(
    "phi",
    title="Phi",
    source="Li et al. 2023, Phi-1.5; transformers 5.24, PhiForCausalLM",
    start=partly_rotated_tokens,
    layers=[repeat(L, Slot("phi", cache="grouped-query"))],
    end=head,
    tied=LOGITS,
    output=OUTPUT,
)
