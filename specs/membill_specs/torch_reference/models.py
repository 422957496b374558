"""Hugging Face's whole language models, built from their configurations alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import torch
from torch import nn

from membill.audit.references import ModelReference, add_model
from membill.audit.requirements import required
from membill.spec import Tensor
from membill_specs.stacks import gpt2_model, llama_model
from membill_specs.torch_reference.families import FAMILIES
from membill_specs.torch_reference.hugging_face import Called, Family


@dataclass(frozen=True)
class Model:
    """A class of Hugging Face's and the stack that describes it.

    family: that of its layers. names: fields of the configuration which a layer alone does
    without, by the symbol that they are. fixed: fields with a value of their own.
    dropout: whether the stack has any by default.
    """

    cls: str
    family: Family
    stack: Callable[..., Tensor]
    names: Mapping[str, str]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    dropout: bool = False

    def factory(
        self, attention: str = "flash", **dims: Any
    ) -> tuple[nn.Module, tuple[torch.Tensor]]:
        """The model in training mode, and token ids to call it with, which are its labels too."""
        config = self.family.configuration(dims, attention, self.dropout)
        config.update({**{name: dims[symbol] for name, symbol in self.names.items()}, **self.fixed})
        model = getattr(required("transformers"), self.cls)._from_config(
            config, attn_implementation=config._attn_implementation
        )
        ids = torch.zeros(dims["b"], dims["T"], dtype=torch.long)
        call = {"labels": ids, "use_cache": False}  # the cache is for generation only
        return Called(model.train(), call, one_sequence_a_row(ids)), (ids,)


def one_sequence_a_row(ids: torch.Tensor) -> AbstractContextManager[Any]:
    """The answer to "are sequences packed?", for which `meta` has no values to look at."""
    if not ids.is_meta:
        return nullcontext()
    masks = required("transformers.masking_utils")
    return patch.object(masks, "find_packed_sequence_indices", lambda positions: None)


LAYERS = {family.layer: family for family in FAMILIES}
MODELS = (
    Model(
        cls="LlamaForCausalLM",
        family=LAYERS["llama"],
        stack=llama_model,
        names={
            "num_hidden_layers": "L",
            "vocab_size": "V",
            "max_position_embeddings": "T",
        },
    ),
    Model(
        cls="GPT2LMHeadModel",
        family=LAYERS["gpt2"],
        stack=gpt2_model,
        names={"n_layer": "L", "vocab_size": "V", "n_positions": "T"},
        fixed={"bos_token_id": 0, "eos_token_id": 0},
        dropout=True,
    ),
)

for model in MODELS:
    add_model(
        ModelReference(
            name=model.cls,
            layer=model.family.layer,
            stack=model.stack,
            factory=model.factory,
            variants=tuple({"attention": kind} for kind in model.family.implementations),
            model=model.family.shape,
            tokens=model.family.tokens,
            alone={"alone": True},
        )
    )
