"""Whole language models, from token ids to the loss: what counts per layer and what once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
import sympy

pytest.importorskip("torch", reason="the audit needs PyTorch")
pytest.importorskip("transformers", reason="the models are Hugging Face's")

import torch
import transformers
from transformers import masking_utils

import membill
from membill import audit
from membill.audit import Comparison, Record
from membill.audit.cases import defaults
from membill.dtypes import COMPUTE, FLOAT32
from membill.formula import Formula
from membill.graph import trace
from membill.ledger import Ledger, collect, price, total
from membill.symbols import beta
from membill.tensor import Tensor
from membill_specs.blocks import eager_attention, eager_float32_attention, flash
from membill_specs.stacks import gpt2_model, llama_model

DEPTHS = (1, 2, 5)
WIDTHS = {"bfloat16": 2, "float32": 4}
SMALL = {"b": 2, "T": 12, "d": 64, "h": 4, "n_kv": 2, "d_k": 16, "d_ff": 96, "V": 101}
SMALL_GPT2 = {**SMALL, "n_kv": 4, "d_ff": 256}


@pytest.fixture
def one_sequence_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer to "are sequences packed?", for which `meta` has no values to look at."""
    monkeypatch.setattr(masking_utils, "find_packed_sequence_indices", lambda positions: None)


def llama(layers: int, dims: dict[str, int], attention: str) -> Any:
    config = transformers.LlamaConfig(
        hidden_size=dims["d"],
        num_attention_heads=dims["h"],
        num_key_value_heads=dims["n_kv"],
        head_dim=dims["d_k"],
        intermediate_size=dims["d_ff"],
        vocab_size=dims["V"],
        num_hidden_layers=layers,
        max_position_embeddings=dims["T"],
    )
    return transformers.LlamaForCausalLM._from_config(config, attn_implementation=attention)


def gpt2(layers: int, dims: dict[str, int], attention: str) -> Any:
    config = transformers.GPT2Config(
        n_embd=dims["d"],
        n_head=dims["h"],
        n_inner=dims["d_ff"],
        vocab_size=dims["V"],
        n_positions=dims["T"],
        n_layer=layers,
        bos_token_id=0,
        eos_token_id=0,
    )
    return transformers.GPT2LMHeadModel._from_config(config, attn_implementation=attention)


def recorded(
    make: Callable[..., Any], layers: int, dims: dict[str, int], attention: str, **where: str
) -> Record:
    """What a model in training mode keeps, without the cache that only generation needs."""
    with defaults(where.get("dtype", "bfloat16"), where.get("device", "meta")):
        model = make(layers, dims, attention).train()
        ids = torch.zeros(dims["b"], dims["T"], dtype=torch.long)
    return audit.saved(model, ids, labels=ids, use_cache=False)


def derived(
    stack: Callable[..., Tensor], layers: int, dtype: str = "bfloat16", **options: Any
) -> Ledger:
    """The ledger of a stack of so many layers."""
    compute = FLOAT32 if dtype == "float32" else COMPUTE
    graph = trace(stack.__name__, lambda: stack(layers, **options), {}, compute=compute)
    return price(collect(graph), graph.weights, {beta: sympy.Integer(WIDTHS[dtype])}, ())


def all_kept(ledger: Ledger) -> Formula:
    """Bytes of all that a model keeps, the tables that its layers share included."""
    return total(row.bytes for row in (*ledger.rows, *ledger.tables))


def compared(
    ledger: Ledger, dims: dict[str, int], record: Record, dtype: str = "bfloat16"
) -> Comparison:
    """Storage by storage. A model makes its tables itself, so the record does not mark them."""
    kept = audit.expected(ledger, dims, dtype)
    return audit.compare("model", [replace(item, table=False) for item in kept], record)


@dataclass(frozen=True)
class Model:
    """A stack beside the class it describes; `asked`: Hugging Face's name of the attention."""

    stack: Callable[..., Tensor]
    make: Callable[..., Any]
    dims: dict[str, int]
    asked: str
    attention: Callable[..., Tensor]


MODELS = {
    "llama-flash": Model(llama_model, llama, SMALL, "sdpa", flash),
    "llama-eager": Model(llama_model, llama, SMALL, "eager", eager_float32_attention),
    "gpt2-flash": Model(gpt2_model, gpt2, SMALL_GPT2, "sdpa", flash),
    "gpt2-eager": Model(gpt2_model, gpt2, SMALL_GPT2, "eager", eager_attention),
}


@pytest.mark.usefixtures("one_sequence_a_row")
@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("layers", DEPTHS)
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_model_keeps_what_its_spec_says(model: Model, layers: int, dtype: str) -> None:
    ledger = derived(model.stack, layers, dtype, attention=model.attention)
    record = recorded(model.make, layers, model.dims, model.asked, dtype=dtype)
    result = compared(ledger, model.dims, record, dtype)
    assert result.equal, result.message()


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_real_tensors_on_a_cpu_keep_the_same(model: Model) -> None:
    record = recorded(model.make, 2, model.dims, model.asked, device="cpu")
    result = compared(derived(model.stack, 2, attention=model.attention), model.dims, record)
    assert result.equal, result.message()


@pytest.mark.parametrize(
    ("stack", "layer"),
    [
        pytest.param(llama_model, membill.layer("llama", norm="hugging-face"), id="llama"),
        pytest.param(gpt2_model, membill.layer("gpt2"), id="gpt2"),
    ],
)
def test_a_model_is_its_layers_and_what_comes_once(
    stack: Callable[..., Tensor], layer: membill.Layer
) -> None:
    one, two, five = (all_kept(derived(stack, layers)).expr for layers in DEPTHS)
    per_layer = layer.activations(specialise=False).expr
    assert two - one == per_layer
    assert sympy.expand(five - (one + 4 * per_layer)) == 0


@pytest.mark.usefixtures("one_sequence_a_row")
def test_llama_3_8b_at_8192_tokens() -> None:
    dims = {**membill.shape("llama-3-8b"), "b": 1, "T": 8192}
    kept = {layers: derived(llama_model, layers, alone=True) for layers in DEPTHS}
    for layers, ledger in kept.items():
        result = compared(ledger, dims, recorded(llama, layers, dims, "sdpa"))
        assert result.equal, result.message()
    one, two, five = (all_kept(ledger)(**dims) for ledger in kept.values())
    assert two - one == 1_645_281_304
    assert five == one + 4 * 1_645_281_304
    assert one - 1_645_281_304 == 4_475_486_220
    layer = membill.layer("llama", norm="hugging-face")
    with_tables = all_kept(layer.ledger(specialise=False))(**dims)
    assert with_tables == layer.activations()(**dims) + 2 * 8192 * 128 * 2
    assert round(with_tables / 8192 / 4096, 3) == 49.158
