"""Hugging Face's whole models, built from their configurations alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from unittest.mock import patch

import torch
from torch import nn

from membill.audit.references import ModelReference, add_model
from membill.audit.requirements import required
from membill_specs.torch_reference.families import FAMILIES
from membill_specs.torch_reference.hugging_face import Called, Family, SharedHeads

LAYERS = {family.layer: family for family in FAMILIES}
USUAL = {"num_hidden_layers": "L", "vocab_size": "V"}
TEXT = ("labels",)


@dataclass(frozen=True)
class Model:
    """A class of Hugging Face's; the architecture that describes it has its layers' name.

    family: that of its layers. names: fields of the configuration which a layer alone does
    without, by the symbol that they are. fixed: fields with a value of their own. options: of the
    architecture. batch: what goes in besides token ids, by keyword: as many numbers as ids,
    `labels` among them; `classes` for a label a sequence. dropout: whether the architecture has
    any by default. own: dimensions that are no real model's. only: the alternative of
    `attention` to audit, if not all. sequences: in the audit at the real model's shape.
    label: what tells it from another of the same class.
    """

    cls: str
    family: Family
    names: Mapping[str, str] = field(default_factory=lambda: USUAL)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    batch: tuple[str, ...] = TEXT
    dropout: bool = False
    own: Mapping[str, int] = field(default_factory=dict)
    only: str = ""
    sequences: int = 1
    label: str = ""

    @property
    def name(self) -> str:
        """The class, with the label if there is one."""
        return ", ".join(filter(None, (self.cls, self.label)))

    @property
    def variants(self) -> tuple[Mapping[str, str], ...]:
        """Options of the architecture to audit, besides those of the class."""
        kinds = (self.only,) if self.only else self.family.implementations
        return tuple({"attention": kind} for kind in kinds)

    @property
    def in_full(self) -> Mapping[str, str]:
        """Options at a real model's size."""
        own = {"attention": self.only} if self.only else {}
        one = self.batch == TEXT and self.sequences == 1
        return {**own, "loss": "eager-one-sequence"} if one else own

    def configuration(self, dims: Mapping[str, int], attention: str = "flash") -> Any:
        """The configuration of a model of these dimensions."""
        of_layers = {
            name: value for name, value in self.family.fixed.items() if name not in self.names
        }
        whole = replace(
            self.family,
            names={**self.family.names, **self.names},
            fixed={**of_layers, **self.fixed, **_of_images(dims, self)},
        )
        return whole.configuration(dims, attention, self.dropout)

    def module(self, config: Any) -> nn.Module:
        """The model of a configuration, in training mode."""
        cls = getattr(required("transformers"), self.cls)
        wanted = config._attn_implementation
        made = cls._from_config(config, attn_implementation="eager")
        # Put in later, for a class that has no leave to ask for it.
        made.config._attn_implementation = wanted
        return made.train()

    def factory(self, attention: str = "flash", **dims: Any) -> tuple[nn.Module, tuple[Any]]:
        """The model and a batch to call it with."""
        config = self.configuration(dims, attention)
        size = (dims["b"], dims["T"])
        ids = torch.zeros(*size, dtype=torch.long)
        call: dict[str, Any] = {
            name: torch.zeros(*size[: 1 if name == "classes" else 2], dtype=torch.long)
            for name in self.batch
        }
        if "classes" in call:
            call["labels"] = call.pop("classes")
        if self.family.masked:
            call["use_cache"] = False  # the cache is for generation only
        given = ids if self.family.layer != "vit" else _image(config, dims["b"])
        shared = attention in self.family.told_of_shared_heads
        return Called(self.module(config), call, partial(running, ids.is_meta, shared)), (given,)


def _of_images(dims: Mapping[str, int], model: Model) -> dict[str, Any]:
    """The sizes of a row of patches, of three channels, for a class that looks at images."""
    if model.family.layer != "vit":
        return {}
    side = int((dims["d_p"] // 3) ** 0.5)
    return {"patch_size": side, "image_size": (side, side * (dims["T"] - 1))}


def _image(config: Any, sequences: int) -> torch.Tensor:
    return torch.randn(sequences, config.num_channels, *config.image_size)


@contextmanager
def running(on_meta: bool, shared_heads: bool) -> Iterator[None]:
    """What a model runs in: told what SDPA is to know, and what `meta` has no values to see.

    That is the answer to "are sequences packed?".
    """
    masks = required("transformers.masking_utils")
    packed = patch.object(masks, "find_packed_sequence_indices", lambda positions: None)
    with SharedHeads() if shared_heads else nullcontext(), packed if on_meta else nullcontext():
        yield


GPT = {"n_layer": "L", "vocab_size": "V", "n_positions": "P"}
BERT = {**USUAL, "max_position_embeddings": "P"}
MODELS = (
    Model("LlamaForCausalLM", LAYERS["llama"], options={"norm": "hugging-face"}),
    Model(
        "GPT2LMHeadModel",
        LAYERS["gpt2"],
        names=GPT,
        dropout=True,
    ),
    Model("MistralForCausalLM", LAYERS["mistral"]),
    Model("MixtralForCausalLM", LAYERS["mixtral"]),
    Model("Qwen2ForCausalLM", LAYERS["qwen2"]),
    Model("Qwen3ForCausalLM", LAYERS["qwen3"]),
    Model("Qwen3MoeForCausalLM", LAYERS["qwen3_moe"]),
    Model("Olmo2ForCausalLM", LAYERS["olmo2"]),
    Model(
        "DeepseekV3ForCausalLM",
        LAYERS["deepseek_v3"],
        names={**USUAL, "intermediate_size": "d_ff", "first_k_dense_replace": "L_d"},
        own={"L_d": 1},
    ),
    # A window shorter than the sequence takes a mask, and a kernel of another library's.
    Model("Gemma2ForCausalLM", LAYERS["gemma2"], fixed={"sliding_window": 2**20}),
    Model(
        "Gemma3ForCausalLM",
        LAYERS["gemma3"],
        fixed={"sliding_window": 2**20, "sliding_window_pattern": 6},
    ),
    Model("PhiForCausalLM", LAYERS["phi"]),
    Model("Phi3ForCausalLM", LAYERS["phi3"]),
    Model("GPTNeoXForCausalLM", LAYERS["gpt_neox"]),
    Model("OPTForCausalLM", LAYERS["opt"], names=BERT, dropout=True),
    # It hands SDPA a mask, which no fused kernel takes; one sequence's products read in place.
    Model("FalconForCausalLM", LAYERS["falcon"], only="eager", sequences=2),
    Model(
        "FalconForCausalLM",
        LAYERS["falcon_new_decoder"],
        only="eager",
        sequences=2,
        label="new decoder",
    ),
    Model("GPTBigCodeForCausalLM", LAYERS["gpt_bigcode"], names=GPT, dropout=True),
    Model("BertModel", LAYERS["bert"], names=BERT, batch=("token_type_ids",), dropout=True),
    Model(
        "BertForSequenceClassification",
        LAYERS["bert"],
        names={**BERT, "num_labels": "C"},
        options={"head": "classifier"},
        batch=("token_type_ids", "classes"),
        dropout=True,
        own={"C": 2},
    ),
    Model(
        "BertForMaskedLM",
        LAYERS["bert"],
        names=BERT,
        options={"head": "masked-language-model"},
        batch=("token_type_ids", "labels"),
        dropout=True,
    ),
    Model(
        "ViTForImageClassification",
        LAYERS["vit"],
        names={"num_hidden_layers": "L", "num_labels": "C"},
        batch=("classes",),
    ),
)

for model in MODELS:
    add_model(
        ModelReference(
            name=model.name,
            architecture=model.family.layer,
            usual=model.options,
            factory=model.factory,
            variants=model.variants,
            model=model.family.shape,
            tokens=model.family.tokens,
            own=model.own,
            sequences=model.sequences,
            in_full=model.in_full,
        )
    )
