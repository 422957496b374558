"""Every message about a config.json, word for word."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from config_facts import VARIED, fact

import membill
from membill import InputError
from membill.config import by_type
from membill.config_reading import shape_of
from membill.json_file import MOST_BYTES

TYPES = ", ".join(by_type())


def message(config: Mapping[str, Any]) -> str:
    with pytest.raises(InputError) as caught:
        shape_of(config, "mine", "c.json")
    return str(caught.value)


LLAMA, GPT2, BERT = fact("llama-3-8b"), fact("gpt-2-124m"), fact("bert-base")
MIXTRAL, DEEPSEEK, GEMMA = fact("mixtral-8x7b"), fact("deepseek-v3"), fact("gemma-2-9b")
WINDOWED = VARIED["qwen2_window"]
FALCON, QWEN, VIT = fact("falcon-7b"), fact("qwen2.5-7b"), fact("vit-b-16")
COUNT = "is not an integer from 1 to 1,000,000,000"
SOME = {key: LLAMA[key] for key in ("model_type", "hidden_size")}

WRONG: list[tuple[Mapping[str, Any], Mapping[str, Any], str]] = [
    (LLAMA, {"hidden_size": True}, f"hidden_size = true {COUNT}"),
    (LLAMA, {"hidden_size": 1.5}, f"hidden_size = 1.5 {COUNT}"),
    (LLAMA, {"hidden_size": 4096.0}, f"hidden_size = 4096.0 {COUNT}"),
    (LLAMA, {"hidden_size": "4096"}, f'hidden_size = "4096" {COUNT}'),
    (LLAMA, {"hidden_size": -1}, f"hidden_size = -1 {COUNT}"),
    (LLAMA, {"hidden_size": 0}, f"hidden_size = 0 {COUNT}"),
    (LLAMA, {"hidden_size": 10**9 + 1}, f"hidden_size = 1000000001 {COUNT}"),
    (LLAMA, {"hidden_size": None}, f"hidden_size = null {COUNT}"),
    (LLAMA, {"vocab_size": [1] * 40}, f"vocab_size = [{'1, ' * 18}1,... {COUNT}"),
    (GEMMA, {"head_dim": None}, f"head_dim = null {COUNT}"),
    (
        LLAMA,
        {"hidden_size": 4097, "head_dim": None},
        "head_dim, which is not given, is d/h, and that is no whole number for "
        "hidden_size = 4097, num_attention_heads = 32",
    ),
    (
        LLAMA,
        {"num_key_value_heads": 5},
        "num_attention_heads = 32 is not a multiple of num_key_value_heads = 5",
    ),
    (
        MIXTRAL,
        {"num_experts_per_tok": 9},
        "num_experts_per_tok = 9 is more than num_local_experts = 8",
    ),
    (
        MIXTRAL,
        {"num_experts": 4},
        "num_experts = 4 contradicts num_local_experts = 8",
    ),
    (
        MIXTRAL,
        {"sliding_window": "4096"},
        f'sliding_window = "4096" {COUNT}',
    ),
    (
        GPT2,
        {"head_dim": 96},
        "head_dim = 96 contradicts n_embd = 768, n_head = 12, for which it is d/h = 64",
    ),
    (GPT2, {"n_ctx": 512}, "n_ctx = 512 contradicts n_positions = 1024"),
    (GPT2, {"hidden_size": 64}, "hidden_size = 64 contradicts n_embd = 768"),
    (
        GPT2,
        {"n_embd": 770},
        "d_k, which is not given, is d/h, and that is no whole number for n_embd = 770, n_head = "
        "12",
    ),
    (
        DEEPSEEK,
        {"qk_head_dim": 128},
        "qk_head_dim = 128 contradicts qk_nope_head_dim = 128, qk_rope_head_dim = 64, for which it "
        "is d_n + d_r = 192",
    ),
    (
        DEEPSEEK,
        {"first_k_dense_replace": 62},
        "first_k_dense_replace = 62 is more than num_hidden_layers = 61",
    ),
    (DEEPSEEK, {"q_lora_rank": None}, f"q_lora_rank = null {COUNT}"),
    (
        GEMMA,
        {"num_hidden_layers": 43, "layer_types": None},
        "num_hidden_layers = 43 is not a multiple of 2",
    ),
    (
        GEMMA,
        {"num_hidden_layers": 44},
        "layer_types has 42 entries, but num_hidden_layers = 44: give one for each layer",
    ),
    (
        GEMMA,
        {"layer_types": 3},
        "layer_types has 3, but num_hidden_layers = 42: give one for each layer",
    ),
    (
        GEMMA,
        {"layer_types": ["full_attention"] * 42},
        'layer_types[0] = "full_attention" is not supported for gemma2: only "sliding_attention", '
        '"full_attention", in turn',
    ),
    (LLAMA, {"hidden_act": "relu"}, 'hidden_act = "relu" is not supported for llama: only "silu"'),
    (
        LLAMA,
        {"attention_bias": 0},
        "attention_bias = 0 is not supported for llama: only true or false",
    ),
    (
        LLAMA,
        {"tie_word_embeddings": "yes"},
        'tie_word_embeddings = "yes" is not supported for llama: only true or false',
    ),
    (fact("qwen3-4b"), {"head_dim": None}, f"head_dim = null {COUNT}"),
    (
        fact("qwen3-4b"),
        {"use_sliding_window": True},
        "use_sliding_window = true is not supported for qwen3: only false",
    ),
    (QWEN, {"use_sliding_window": True}, f"sliding_window = null {COUNT}"),
    (WINDOWED, {"sliding_window": None}, f"sliding_window = null {COUNT}"),
    (
        WINDOWED,
        {"max_window_layers": -1},
        "max_window_layers = -1 is not an integer from 0 to 1,000,000,000",
    ),
    (
        WINDOWED,
        {"max_window_layers": 29},
        "max_window_layers = 29 is more than num_hidden_layers = 28",
    ),
    (
        WINDOWED,
        {"layer_types": ["full_attention"] * 28},
        'layer_types[21] = "full_attention" is not supported for qwen2: only "sliding_attention" '
        "for num_hidden_layers = 28, max_window_layers = 21",
    ),
    (
        QWEN,
        {"layer_types": ["sliding_attention"] * 28},
        'layer_types[0] = "sliding_attention" is not supported for qwen2: only "full_attention"',
    ),
    (
        fact("gpt-neox-20b"),
        {"hidden_act": "relu"},
        'hidden_act = "relu" is not supported for gpt_neox: only "gelu" or "gelu_fast"',
    ),
    (
        fact("gemma-3-1b"),
        {"layer_types": ["sliding_attention"] * 26},
        'layer_types[5] = "sliding_attention" is not supported for gemma3_text: only '
        + '"sliding_attention", ' * 5
        + '"full_attention", in turn',
    ),
    (FALCON, {"multi_query": False}, "multi_query = false is not supported for falcon: only true"),
    (
        fact("gpt-neox-20b"),
        {"rope_parameters": {"partial_rotary_factor": 0.5}},
        "rope_parameters.partial_rotary_factor = 0.5 is not supported for gpt_neox: only 0.25",
    ),
    (
        fact("starcoder-15b"),
        {"num_key_value_heads": 4},
        "num_key_value_heads = 4 contradicts multi_query = true",
    ),
    (
        fact("phi-2"),
        {"partial_rotary_factor": 0.5},
        "rope_parameters.partial_rotary_factor = 0.4 contradicts partial_rotary_factor = 0.5",
    ),
    (
        fact("phi-2"),
        {"rope_parameters": {"partial_rotary_factor": 1.5}},
        "rope_parameters.partial_rotary_factor = 1.5 is not a number from 1/80 to 1",
    ),
    (
        BERT,
        {"architectures": ["BertForQuestionAnswering"]},
        'architectures = ["BertForQuestionAnswering"] is not supported for bert: only '
        '["BertModel"] or ["BertForMaskedLM"] or ["BertForSequenceClassification"]',
    ),
    (
        VIT,
        {"image_size": 100},
        "P, which is not given, is d_i²/(d_x²) + 1, and that is no whole number for "
        "image_size = 100, patch_size = 16",
    ),
    (VIT, {"id2label": {"0": "cat"}}, "num_labels = 1000 contradicts id2label = 1"),
    (
        SOME,
        {},
        "lacks num_hidden_layers, num_attention_heads, intermediate_size, vocab_size, which llama "
        "needs",
    ),
    (
        {
            key: value
            for key, value in DEEPSEEK.items()
            if key not in ("kv_lora_rank", "v_head_dim")
        },
        {},
        "lacks kv_lora_rank, v_head_dim, which deepseek_v3 needs",
    ),
]


@pytest.mark.parametrize(("config", "change", "text"), WRONG)
def test_a_config_that_cannot_be_read_says_why(
    config: Mapping[str, Any], change: Mapping[str, Any], text: str
) -> None:
    if change:
        shape_of(config, "mine", "c.json")
    assert message({**config, **change}) == f"c.json: {text}"


def test_an_unknown_type_names_the_nearest() -> None:
    known = f"Known: {TYPES}"
    assert message({**LLAMA, "model_type": "qwen"}) == (
        f"unknown model_type 'qwen' in c.json. Did you mean 'qwen3'? {known}"
    )
    assert message({**LLAMA, "model_type": 7}) == f"unknown model_type 7 in c.json. {known}"
    text = {"model_type": "llava", "text_config": {"model_type": "lama"}}
    assert message(text) == (
        f"unknown model_type 'lama' of text_config in c.json. Did you mean 'llama'? {known}"
    )
    text["text_config"] = {**LLAMA, "vocab_size": 0}
    assert message(text) == f"c.json, text_config: vocab_size = 0 {COUNT}"
    assert message({}) == f"c.json has no model_type. {known}"
    assert message({"architectures": ["None"]}) == f"c.json has no model_type. {known}"


FILES: dict[str, tuple[bytes, str]] = {
    "list": (b"[1, 2]", " holds a list, not an object: {...}"),
    "null": (b"null", " holds a null, not an object: {...}"),
    "truncated": (b'{"a": 1,\n "b": ', " is not JSON: Expecting value at line 2, column 7"),
    "empty": (b"", " is not JSON: Expecting value at line 1, column 1"),
    "latin": (b'{"a": "\xe9"}', " is not UTF-8: byte 7 is no text"),
    "twice": (b'{"a": 1, "a": 2}', ": a is given twice: 1 and 2"),
    "nan": (b'{"hidden_size": NaN}', ": hidden_size = NaN is not a number that JSON knows"),
    "infinite": (b'{"b": [1, -1e999]}', ": b = -Infinity is not a number that JSON knows"),
    "digits": (b'{"a": ' + b"9" * 5000 + b"}", " holds a number that is too long"),
    "deep": (b'{"a": ' + b"[" * 400_000, " is nested too deeply"),
    "large": (
        b" " * (MOST_BYTES + 1),
        " has 1,000,001 bytes: a configuration has at most 1,000,000, so it is not read",
    ),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_file_that_holds_no_config_is_refused(kind: str, tmp_path: Path) -> None:
    content, text = FILES[kind]
    path = tmp_path / "config.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        membill.model(str(path))
    assert str(caught.value) == f"{path}{text}"


def test_what_is_no_file_is_refused_unopened(tmp_path: Path) -> None:
    huge, pipe, folder = (tmp_path / name for name in ("huge.json", "pipe.json", "folder.json"))
    with huge.open("wb") as file:
        file.truncate(2 * 10**9)
    os.mkfifo(pipe)
    folder.mkdir()
    for path, text in {
        str(huge): f"{huge} has 2,000,000,000 bytes: a configuration has at most 1,000,000, so it "
        "is not read",
        str(pipe): f"{pipe} is not a regular file",
        str(folder): f"{folder} is a directory: give the path of the config.json in it",
        "nowhere.json": "nowhere.json does not exist: give the path of a config.json",
        "a\0.json": r"'a\x00.json' cannot be read: embedded null byte",
    }.items():
        with pytest.raises(InputError) as caught:
            membill.model(path)
        assert str(caught.value) == text
