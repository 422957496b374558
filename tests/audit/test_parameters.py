"""Every known model beside Hugging Face's: as many parameters, the same buffers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

pytest.importorskip("torch", reason="the audit needs PyTorch")
pytest.importorskip("transformers", reason="the models are Hugging Face's")

import sympy
import torch

import membill
from membill import registry
from membill.formula import Formula
from membill.ledger import Row
from membill.models import Model
from membill_specs.torch_reference import models

AS_PUBLISHED = {"bert": "BertModel"}
SAME_AS = {"gpt": "gpt2", "mistral_window": "mistral", "phi3_window": "phi3"}
SHAPES = registry.known().shapes


def reference(architecture: str) -> Any:
    layer = SAME_AS.get(architecture, architecture)
    known = [each for each in models.MODELS if each.family.layer == layer]
    return next(each for each in known if each.cls == AS_PUBLISHED.get(layer, each.cls))


def buffers(model: Model) -> list[Row]:
    """The rows of all buffers; no layer has one."""
    plan = membill.plan()
    return [row for part in model.parts for row in part.ledger(plan).buffers]


def module(name: str) -> Any:
    """Hugging Face's model at the shape of a known one, on `meta`."""
    shape = membill.shape(name)
    known = reference(shape.architecture)
    config = known.configuration({**shape, "T": shape.get("P", 1)})
    config.tie_word_embeddings = shape.options.get("tied", False)
    with torch.device("meta"):
        return known.module(config)


def numbers(shape: tuple[sympy.Expr, ...], values: dict[str, int]) -> tuple[int, ...]:
    return tuple(Formula(axis, "entries")(**values) for axis in shape)


@pytest.mark.parametrize("name", SHAPES)
def test_parameters_and_buffers_are_hugging_faces(name: str) -> None:
    """What a checkpoint stores are the parameters; the other buffers are the model's buffers."""
    model, made, values = membill.model(name), module(name), dict(membill.shape(name))
    stored = made.state_dict().keys()
    held = {each for each, _ in made.named_buffers() if each not in stored}
    tensors = dict((*made.named_parameters(), *made.named_buffers()))
    whole = sum(each.numel() for label, each in tensors.items() if label not in held)
    assert model.parameters()(**values) == whole
    expected = Counter((numbers(row.shape, values), str(row.dtype)) for row in buffers(model))
    found = ((tuple(tensors[each].shape), str(tensors[each].dtype)[6:]) for each in held)
    assert expected == Counter(found)


@pytest.mark.parametrize("head", [each for each in models.MODELS if each.family.layer == "bert"])
def test_heads_of_bert(head: Any) -> None:
    shape = membill.shape("bert-large")
    model = membill.model("bert-large", **head.options)
    with torch.device("meta"):
        made = head.module(head.configuration({**shape, "C": 2, "T": 512}))
    assert model.parameters()(**shape, C=2) == sum(each.numel() for each in made.parameters())
