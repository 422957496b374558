"""Peaks of a training step that were measured, with what differs from the derived ones."""

from collections.abc import Mapping
from typing import Any

import sympy

from membill.spec import Difference, Measured, register
from membill.symbols import L, T, b, d_k, h, n_kv

LLAMA: Mapping[str, Any] = {
    "model": "llama-3-8b",
    "options": {"norm": "hugging-face"},
    "settings": {"b": 1, "T": 8192, "recipe": "adam-bf16", "in_place": False},
}
WATCHED = (
    "PyTorch 2.13's MemTracker on one step of transformers 5.24's LlamaForCausalLM with AdamW,"
    " foreach, in bfloat16, on fake tensors"
)

ON_A_CPU = (
    Difference(
        "a float32 counter for each of 291 weights, on the host for a GPU", 4 * sympy.S(291)
    ),
    Difference("no state of the generator, which a GPU's attention kernel keeps", -(16 + 8) * L),
)

register(
    Measured(
        "llama-3-8b-gpu-kernels",
        "Llama 3 8B with the kernels of a GPU",
        bytes=115_812_721_928,
        source=f"{WATCHED} of device `meta`, with the shapes of a GPU's kernels",
        **LLAMA,
    ),
    Measured(
        "llama-3-8b-no-mask",
        "Llama 3 8B with the kernels of a CPU",
        bytes=115_812_722_324,
        source=f"{WATCHED} of a CPU, told that no sequences are packed",
        differences=ON_A_CPU,
        **LLAMA,
    ),
    Measured(
        "llama-3-8b-fake-mask",
        "Llama 3 8B with a mask that fake tensors provoke",
        bytes=123_328_915_092,
        source=f"{WATCHED} of a CPU",
        differences=(
            *ON_A_CPU,
            Difference(
                "a mask in each layer, in bfloat16: whether sequences are packed cannot be read"
                " off a fake tensor, so a mask is made that a real run does without",
                2 * L * b * T**2,
            ),
            Difference(
                "keys and values copied to as many heads as queries have: with a mask no shared"
                " heads are passed on",
                2 * 2 * L * b * T * (h - n_kv) * d_k,
            ),
        ),
        **LLAMA,
    ),
)
