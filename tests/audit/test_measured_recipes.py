"""What real optimizers keep after a step of a small model, in bytes, beside the recipes' states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

pytest.importorskip("torch", reason="the audit needs PyTorch")
pytest.importorskip("transformers", reason="the models are Hugging Face's")

import torch
import transformers
from torch import nn

from membill import registry
from membill.finding import of_shape
from membill.kept import states_of_model
from membill.models import Model
from membill.recipe import Recipe
from membill.shapes import Shape
from membill.spacing import FORMATS

COUNTERS = {"step", "RMS", "head_per_gpu", "neuron_per_gpu", "block_numel", "reduced"}
"""Single numbers that are kept for each tensor, which recipes do not count."""

LLAMA = Shape(
    "small", "Small", "llama", "", {"L": 2, "d": 64, "h": 4, "n_kv": 2, "d_ff": 96, "V": 50}
)
GPT_2 = Shape(
    "small", "Small", "gpt2", "", {"L": 2, "d": 64, "h": 4, "V": 50, "P": 32}, {"tied": True}
)


def llama() -> nn.Module:
    config = transformers.LlamaConfig(
        hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, vocab_size=50,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config)


def gpt_2() -> nn.Module:
    config = transformers.GPT2Config(
        n_embd=64, n_layer=2, n_head=4, vocab_size=50, n_positions=32,
        bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    return transformers.GPT2LMHeadModel(config)


MODELS = {"llama": (llama, LLAMA), "gpt2": (gpt_2, GPT_2)}


def of_layers(module: nn.Module) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
    """The matrices of layers, and all other parameters."""
    named = dict(module.named_parameters())
    inner = [n for n, w in named.items() if w.ndim == 2 and (".layers." in n or ".h." in n)]
    return [named[n] for n in inner], [w for n, w in named.items() if n not in inner]


def muon(module: nn.Module) -> list[torch.optim.Optimizer]:
    inner, others = of_layers(module)
    return [torch.optim.Muon(inner), torch.optim.AdamW(others)]


def plain(make: Callable[..., Any], **how: Any) -> Callable[[nn.Module], list[Any]]:
    return lambda module: [make(module.parameters(), **how)]


def adam_mini(module: nn.Module) -> list[Any]:
    package = pytest.importorskip("adam_mini", reason="the optimizer is the package adam-mini's")
    named = module.named_parameters()
    return [package.Adam_mini(named, dim=64, n_heads=4, n_kv_heads=2)]


@dataclass(frozen=True)
class Real:
    """Optimizers for a recipe, and what they call its states."""

    recipe: str
    make: Callable[[nn.Module], list[Any]]
    keys: Mapping[str, tuple[str, ...]]


ADAM = {"first moment": ("exp_avg",), "second moment": ("exp_avg_sq",)}
REAL = {
    "SGD": Real("sgd", plain(torch.optim.SGD), {}),
    "SGD with momentum": Real(
        "sgd-momentum",
        plain(torch.optim.SGD, momentum=0.9),
        {"momentum": ("momentum_buffer",)},
    ),
    "Adam": Real("adam-mixed", plain(torch.optim.Adam), ADAM),
    "AdamW": Real("adam-fp32", plain(torch.optim.AdamW), ADAM),
    "Muon": Real("muon", muon, {"momentum": ("momentum_buffer",), **ADAM}),
    "Adafactor of PyTorch": Real(
        "adafactor",
        plain(torch.optim.Adafactor),
        {"second moment": ("row_var", "col_var", "variance")},
    ),
    "Adafactor of transformers": Real(
        "adafactor",
        plain(transformers.optimization.Adafactor),
        {"second moment": ("exp_avg_sq_row", "exp_avg_sq_col", "exp_avg_sq")},
    ),
    "Adam-mini": Real(
        "adam-mini", adam_mini, {"first moment": ("m",), "second moment": ("v", "vmean")}
    ),
}
CASES = [
    (real, model) for real in REAL for model in MODELS if (real, model) != ("Adam-mini", "gpt2")
]
"""adam-mini tells weights by names, and those of GPT-2's fused projection it does not know."""


def step(module: nn.Module, optimizers: list[Any]) -> None:
    tokens = torch.arange(24).reshape(2, 12)
    module(input_ids=tokens, labels=tokens).loss.backward()
    for optimizer in optimizers:
        optimizer.step()


def bytes_by_key(optimizers: list[Any]) -> dict[str, int]:
    """Bytes of all tensors that optimizers keep, by what they call them."""
    found: dict[str, int] = {}
    for optimizer in optimizers:
        for state in optimizer.state.values():
            for key, value in state.items():
                size = value.untyped_storage().nbytes() if torch.is_tensor(value) else 0
                found[key] = found.get(key, 0) + size
    return found


def billed(recipe: str, model: Model) -> dict[str, int]:
    rows = states_of_model(registry.find(Recipe, recipe), model)
    return {row.state.name: row.bytes() for row in rows if row.state.kind == "moments"}


@pytest.mark.parametrize(("name", "model"), CASES)
def test_optimizers_keep_what_the_recipe_says(name: str, model: str) -> None:
    real, (make, shape) = REAL[name], MODELS[model]
    module = make()
    optimizers = real.make(module)
    step(module, optimizers)
    found = bytes_by_key(optimizers)
    counters = {key: found.pop(key) for key in COUNTERS & found.keys()}
    expected = billed(real.recipe, of_shape(shape))
    assert {s: sum(found.pop(key, 0) for key in keys) for s, keys in real.keys.items()} == expected
    assert not found, "states that the recipe does not know"
    tensors = len(list(module.parameters()))
    assert all(size in (0, 4 * tensors, 4 * counted(module)) for size in counters.values())


def counted(module: nn.Module) -> int:
    """How many tensors Muon leaves to Adam, which alone counts steps."""
    return len(of_layers(module)[1])


@pytest.mark.parametrize("name", ["AdamW", "SGD with momentum"])
def test_states_of_a_bfloat16_model_are_in_bfloat16(name: str) -> None:
    module = llama().to(torch.bfloat16)
    optimizers = REAL[name].make(module)
    step(module, optimizers)
    found = bytes_by_key(optimizers)
    found.pop("step", None)
    parameters = sum(weight.numel() for weight in module.parameters())
    assert set(found.values()) == {2 * parameters}
    if name == "AdamW":
        assert list(found.values()) == list(billed("adam-bf16", of_shape(LLAMA)).values())


def test_statistics_of_a_bfloat16_model_are_float32_in_transformers_alone() -> None:
    sizes = []
    for name in ("Adafactor of transformers", "Adafactor of PyTorch"):
        module = llama().to(torch.bfloat16)
        optimizers = REAL[name].make(module)
        step(module, optimizers)
        found = bytes_by_key(optimizers)
        sizes.append(sum(found.get(key, 0) for key in REAL[name].keys["second moment"]))
    (expected,) = billed("adafactor", of_shape(LLAMA)).values()
    assert sizes == [expected, expected // 2]


@pytest.mark.parametrize("binary", FORMATS, ids=lambda each: each.name)
def test_spacing_is_what_pytorch_has(binary: Any) -> None:
    dtype = getattr(torch, binary.name)
    assert float(binary.spacing(1)) == torch.finfo(dtype).eps
    one = torch.ones((), dtype=dtype)
    half = float(binary.threshold(1))
    assert one + torch.tensor(half, dtype=dtype) == one
    assert one + torch.tensor(half * 1.25, dtype=dtype) != one
