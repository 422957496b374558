"""GPT-2 from token ids to the loss, as Hugging Face's GPT2LMHeadModel without a cache."""

from collections.abc import Callable

from membill.spec import Tensor, index, scope
from membill.symbols import T, V, b, d
from membill_specs.blocks import flash, identity
from membill_specs.layers.gpt2 import gpt2
from membill_specs.ops import add, embedding, layer_norm
from membill_specs.ops import dropout as dropout_op
from membill_specs.stacks.loss import next_token_loss


def gpt2_model(
    layers: int,
    *,
    attention: Callable[..., Tensor] = flash,
    dropout: bool = True,
    alone: bool = False,
) -> Tensor:
    """Token and position embeddings, `layers` layers, the final norm, logits, loss. alone: b = 1.

    The logits' weight is the embedding's; it is counted twice here.
    """
    with scope("embedding"):
        x = embedding(index("ids", b, T), V, d, name="tokens")
        positions = embedding(index("positions", 1, T), T, d, name="positions")
        x = (dropout_op if dropout else identity)(add(x, positions))
    for number in range(layers):
        with scope(f"layer_{number}"):
            x = gpt2(x, attention=attention, dropout=dropout)
    return next_token_loss(layer_norm(x, name="final_norm"), alone=alone)
