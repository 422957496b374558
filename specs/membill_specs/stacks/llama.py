"""Llama from token ids to the loss, as Hugging Face's LlamaForCausalLM without a cache."""

from collections.abc import Callable

from membill.spec import Tensor, index, scope
from membill.symbols import T, V, b, d
from membill_specs.blocks import eager_swiglu, flash, hugging_face_rms_norm
from membill_specs.layers.llama import llama
from membill_specs.ops import embedding
from membill_specs.stacks.loss import next_token_loss


def llama_model(
    layers: int,
    *,
    attention: Callable[..., Tensor] = flash,
    norm: Callable[..., Tensor] = hugging_face_rms_norm,
    swiglu: Callable[..., Tensor] = eager_swiglu,
    dropout: bool = False,
    alone: bool = False,
) -> Tensor:
    """Embedding, `layers` layers, the final norm, logits and loss. alone: b = 1."""
    x = embedding(index("ids", b, T), V, d)
    for number in range(layers):
        with scope(f"layer_{number}"):
            x = llama(x, attention=attention, norm=norm, swiglu=swiglu, dropout=dropout)
    return next_token_loss(norm(x, name="final_norm"), alone=alone)
