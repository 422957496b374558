"""Configurations drawn at random: as many parameters as Hugging Face's class has, to the last.

A config.json is written, from which both transformers and Membill make the model.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("torch", reason="the audit needs PyTorch")
pytest.importorskip("transformers", reason="the models are Hugging Face's")

import torch
import transformers

import membill
from membill import registry
from membill.config import Configuration, by_type
from membill.config_reading import shape_of
from membill.finding import of_shape
from membill.json_file import NOWHERE, deep
from membill.unrolled import order

DERIVED = ("layer_types", "qk_head_dim", "label2id", "rope_parameters")
PUBLISHED = "e_score_correction_bias"
"""A buffer of transformers' that DeepSeek counts among the parameters of its model."""

SPECS = registry.everything(Configuration)


def known(kind: str) -> dict[str, Any]:
    """The fields of transformers' class for a model type, as it writes them by default."""
    written = json.loads(transformers.AutoConfig.for_model(kind).to_json_string())
    assert isinstance(written, dict)
    return written


def drawn(random: Random, spec: Configuration) -> dict[str, Any]:
    """A valid configuration: sizes drawn, flags of options too, some keys left to the default."""
    kind = spec.kind
    n_kv, d_k = random.randint(1, 3), 8 * random.randint(1, 4)
    h = n_kv * random.randint(1, 3)
    layers, experts, patch = random.randint(2, 14), 8 * random.randint(1, 2), 4
    if kind == "gemma2":
        layers *= 2
    sizes = {
        "num_hidden_layers": layers,
        "hidden_size": h * d_k,
        "num_attention_heads": h,
        "num_key_value_heads": h if kind == "deepseek_v3" else n_kv,
        "num_kv_heads": n_kv,
        "head_dim": 8 * random.randint(1, 4),
        "intermediate_size": random.randint(20, 90),
        "vocab_size": random.randint(50, 90),
        "sliding_window": random.randint(4, 9),
        "max_window_layers": random.randint(0, layers),
        "num_local_experts": experts,
        "n_routed_experts": experts,
        "num_experts_per_tok": random.randint(1, experts),
        "moe_intermediate_size": random.randint(20, 90),
        "n_shared_experts": random.randint(1, 3),
        "first_k_dense_replace": random.randint(1, layers - 1),
        "q_lora_rank": random.randint(8, 20),
        "kv_lora_rank": random.randint(8, 20),
        "qk_nope_head_dim": 8 * random.randint(1, 4),
        "qk_rope_head_dim": 8 * random.randint(1, 4),
        "v_head_dim": 8 * random.randint(1, 4),
        "ffn_dim": random.randint(20, 90),
        "ffn_hidden_size": random.randint(20, 90),
        "word_embed_proj_dim": h * d_k,
        "max_position_embeddings": random.randint(30, 60),
        "n_layer": layers,
        "n_embd": h * d_k,
        "n_head": h,
        "n_inner": random.choice((None, random.randint(20, 90))),
        "n_positions": random.randint(30, 60),
        "image_size": patch * random.randint(2, 6),
        "patch_size": patch,
        "num_channels": random.randint(1, 4),
    }
    written = known(kind)
    ids = {key: None for key in written if key.endswith("token_id")}
    fields = {key: value for key, value in sizes.items() if key in written}
    chosen = {each.key: random.choice(each.values)[0] for each in spec.options.values()}
    asked = {key: values[0] for key, values in spec.when.items()}
    config = {**written, **fields, **ids, **chosen, **asked}
    if "sliding_window" not in spec.given and kind in ("mixtral", "phi3"):
        config["sliding_window"] = None
    if kind == "gpt_bigcode":
        del config["num_key_value_heads"]
    if kind == "deepseek_v3":
        config["head_dim"] = config["qk_rope_head_dim"]
    if "image_size" in config:
        config["id2label"] = {str(label): f"label {label}" for label in range(h + 2)}
    own = type(transformers.AutoConfig.for_model(kind))
    optional = ["head_dim", "num_key_value_heads", "tie_word_embeddings", "ffn_hidden_size"]
    absent = [key for key in optional if getattr(own, key, None) in (None, True, False)]
    for key in (*DERIVED, *random.sample(absent, random.randint(0, len(absent)))):
        config.pop(key, None)
    return {**config, "architectures": [random.choice(sorted(spec.classes))]}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", SPECS)
def test_a_model_has_as_many_parameters_as_hugging_faces(
    name: str, seed: int, tmp_path: Path
) -> None:
    config = drawn(Random(f"{name} {seed}"), SPECS[name])
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config), "utf-8")
    read = transformers.AutoConfig.from_pretrained(tmp_path)
    with torch.device("meta"):
        theirs = getattr(transformers, config["architectures"][0])(read)
    ours = membill.model(str(path))
    assert ours.shape is not None
    assert ours.architecture.name == SPECS[name].architecture
    buffers = (held for name, held in theirs.named_buffers() if name.endswith(PUBLISHED))
    counted = sum(held.numel() for held in (*theirs.parameters(), *buffers))
    assert ours.parameters()(**ours.shape) == counted
    windowed = [part.cache == "sliding-window" for part in order(ours, ours.shape)]
    assert windowed == windows_of(read)


def windows_of(config: Any) -> list[bool]:
    """Whether each layer of a model has a window."""
    all_or_none = getattr(config, "sliding_window", None) is not None
    kinds = getattr(config, "layer_types", None) or config.num_hidden_layers * [all_or_none]
    return [kind in (True, "sliding_attention") for kind in kinds]


@pytest.mark.parametrize(
    "sizes",
    [
        # Gemma Team 2025, Table 1: 1B, 4B, 27B; the google/gemma-3-*-pt configurations.
        (26, 1152, 6912, 4, 1, 262144),
        (34, 2560, 10240, 8, 4, 262208),
        (62, 5376, 21504, 32, 16, 262208),
    ],
    ids=["1b", "4b", "27b"],
)
def test_gemma_3_whose_layers_are_no_multiple_of_its_pattern(sizes: tuple[int, ...]) -> None:
    keys = ["num_hidden_layers", "hidden_size", "intermediate_size", "num_attention_heads"]
    given = dict(zip([*keys, "num_key_value_heads", "vocab_size"], sizes, strict=True))
    given |= {"head_dim": 128 if given["hidden_size"] == 5376 else 256, "sliding_window": 512}
    read = transformers.Gemma3TextConfig(**given)
    with torch.device("meta"):
        theirs = transformers.Gemma3ForCausalLM(read)
    shape = shape_of({**given, "model_type": "gemma3_text"}, "gemma", "c.json")
    ours = of_shape(shape)
    assert ours.parameters()(**shape) == sum(each.numel() for each in theirs.parameters())
    windowed = [part.cache == "sliding-window" for part in order(ours, shape)]
    assert windowed == windows_of(read)
    number = {row.cache.name: row.number.subs(shape.numbers()) for row in ours.cache().rows}
    assert number == {
        "sliding-window": windowed.count(True),
        "grouped-query": windowed.count(False),
    }


@pytest.mark.parametrize("name", SPECS)
def test_what_an_absent_key_stands_for_is_transformers_default(name: str) -> None:
    spec = SPECS[name]
    default = transformers.AutoConfig.for_model(spec.kind)
    for key, setting in ((item.key, item) for item in spec.options.values()):
        assert getattr(default, key) == setting.absent, key
    for symbol, item in spec.fields.items():
        if item.absent is not None and item.flag is None and not item.entries:
            assert getattr(type(default), item.keys[0], NOWHERE) == item.absent, symbol
    if spec is not by_type()[spec.kind][-1]:
        return
    written = known(spec.kind)
    for key, allowed in spec.requires.items():
        assert deep(written, key) in (NOWHERE, *allowed), key
