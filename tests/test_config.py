"""Hugging Face's config.json as a model: what is read is the model that is known."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from config_facts import FACTS, MODELS, VARIED, fact
from hypothesis import given
from hypothesis import strategies as st

import membill
from membill import InputError, registry
from membill.config import Configuration, by_type
from membill.config_reading import shape_at, shape_of
from membill.finding import of_shape


@pytest.mark.parametrize("name", MODELS)
def test_a_published_model_read_from_its_config_is_the_one_that_is_known(name: str) -> None:
    read, known = membill.model(str(FACTS / f"{name}.json")), membill.model(name)
    assert read.shape is not None
    assert known.shape is not None
    assert dict(read.shape) == dict(known.shape)
    assert read.shape.options == known.shape.options
    assert read.architecture is known.architecture
    assert read.parameters()(**read.shape) == known.parameters()(**known.shape)


def test_every_configuration_has_a_fact() -> None:
    read = {shape_at(FACTS / f"{name}.json").architecture for name in MODELS} | VARIED.keys()
    assert read == {spec.architecture for spec in registry.everything(Configuration).values()}


@pytest.mark.parametrize("kind", by_type())
def test_a_configuration_states_options_of_its_architecture_and_is_for_every_file(
    kind: str,
) -> None:
    specs = by_type()[kind]
    for spec in specs:
        options = membill.model(spec.architecture).options
        assert {*spec.options}.union(*spec.classes.values()) <= set(options)
    assert [spec.particular for spec in specs] == [True] * (len(specs) - 1) + [False]


def test_a_model_is_named_for_its_folder_or_its_file(tmp_path: Path) -> None:
    folder = tmp_path / "my-llama"
    folder.mkdir()
    for file in (folder / "config.json", tmp_path / "other.json"):
        file.write_text(json.dumps(fact("llama-3-8b")), "utf-8")
    named = membill.model(str(folder / "config.json")).shape
    assert named is not None
    assert (named.name, named.source) == ("my-llama", str(folder / "config.json"))
    assert membill.model(str(tmp_path / "other.json")).name == "other"
    origin = {**fact("llama-3-8b"), "_name_or_path": "meta-llama/Meta-Llama-3-8B"}
    (tmp_path / "other.json").write_text(json.dumps(origin), "utf-8")
    assert shape_at(tmp_path / "other.json").source == "meta-llama/Meta-Llama-3-8B"


def test_options_go_with_a_file() -> None:
    asked = membill.model(str(FACTS / "qwen3-4b.json"), attention="eager", tied=False)
    assert asked.options["attention"] == "eager"
    assert not asked.tied


def test_what_a_file_lacks_is_what_transformers_takes() -> None:
    config = fact("llama-3-8b")
    for key in ("head_dim", "num_key_value_heads", "tie_word_embeddings"):
        del config[key]
    assert dict(shape_of(config, "a", "b")) == {**membill.shape("llama-3-8b"), "n_kv": 32}
    assert shape_of({**fact("mistral-7b"), "num_key_value_heads": None}, "a", "b")["n_kv"] == 32
    absent = {k: v for k, v in fact("mistral-7b").items() if k != "num_key_value_heads"}
    assert shape_of(absent, "a", "b")["n_kv"] == 8
    del absent["sliding_window"]
    assert shape_of(absent, "a", "b").architecture == "mistral_window"
    assert shape_of({**fact("gpt-2-124m"), "n_inner": 100}, "a", "b")["d_ff"] == 100
    assert shape_of({**fact("llama-3-8b"), "head_dim": 96}, "a", "b")["d_k"] == 96
    gemma = {k: v for k, v in fact("gemma-2-9b").items() if k != "tie_word_embeddings"}
    assert shape_of(gemma, "a", "b").options == {"tied": True}
    assert shape_of({**gemma, "tie_word_embeddings": False}, "a", "b").options == {}


@pytest.mark.parametrize("name", VARIED)
def test_a_window_is_that_of_the_file(name: str) -> None:
    shape = shape_of(VARIED[name], "a", "b")
    assert shape.architecture == name
    assert shape.get("w") == VARIED[name]["sliding_window"]
    rows = of_shape(shape).cache(b=1, T=10**6).rows
    kept = {row.cache.name: int(row.number.subs(shape.numbers())) for row in rows}
    assert kept == {
        "mixtral_window": {"sliding-window": 32},
        "phi3": {"grouped-query": 32},
        "qwen2_window": {"grouped-query": 21, "sliding-window": 7},
    }.get(name)


def test_the_layers_with_a_window_may_be_all_or_none() -> None:
    config = VARIED["qwen2_window"]
    for full, windowed in (0, 28), (28, 0):
        shape = shape_of({**config, "max_window_layers": full}, "a", "b")
        bill = of_shape(shape).cache(b=1, T=32768 + 1)
        layer = 2 * 4 * 128 * 2
        assert bill.bytes == layer * (full * (32768 + 1) + windowed * 32768)
    assert shape_of({k: v for k, v in config.items() if k != "max_window_layers"}, "a", "b") == (
        shape_of({**config, "max_window_layers": 28}, "a", "b")
    )
    plain = {**config, "use_sliding_window": False}
    assert shape_of(plain, "a", "b") == shape_of(fact("qwen2.5-7b"), "a", "b")


def test_what_a_file_says_of_biases_and_of_gelu_is_an_option() -> None:
    biases = {"attention_bias": True, "mlp_bias": True}
    for key in biases:
        shape = shape_of({**fact("llama-3-8b"), key: True}, "a", "b")
        assert shape.options == {key: True}
    d, d_ff, L, heads = 4096, 14336, 32, 32 + 2 * 8
    more = L * (heads * 128 + d + 2 * d_ff + d)
    shape = shape_of({**fact("llama-3-8b"), **biases}, "a", "b")
    assert of_shape(shape).parameters()(**shape) == 8_030_261_248 + more
    pythia = shape_of({**fact("gpt-neox-20b"), "hidden_act": "gelu"}, "a", "b")
    assert pythia.options == {}
    assert membill.shape("gpt-neox-20b").options == {"gelu": "fast"}


def test_labels_are_counted() -> None:
    vit = {key: value for key, value in fact("vit-b-16").items() if key != "num_labels"}
    labels = {str(label): f"LABEL_{label}" for label in range(1000)}
    assert shape_of({**vit, "id2label": labels}, "a", "b") == shape_of(fact("vit-b-16"), "a", "b")


def test_a_class_brings_its_head_and_what_only_it_has() -> None:
    bert = fact("bert-base")
    masked = shape_of({**bert, "architectures": ["BertForMaskedLM"]}, "a", "b")
    assert masked.options == {"head": "masked-language-model", "tied": True}
    assert "C" not in masked
    labels = {"id2label": {"0": "no", "1": "yes", "2": "maybe"}}
    classes = {**bert, "architectures": ["BertForSequenceClassification"]}
    assert shape_of({**classes, **labels}, "a", "b")["C"] == 3
    assert shape_of(classes, "a", "b")["C"] == 2
    del classes["model_type"]
    assert shape_of(classes, "a", "b").options["head"] == "classifier"


def test_the_text_of_a_model_of_several_kinds_is_read_and_said_to_be() -> None:
    text = fact("llama-3-8b")
    del text["tie_word_embeddings"]
    outer = {"model_type": "llava", "architectures": ["Llava"], "text_config": text}
    shape = shape_of(outer, "mine", "c.json")
    assert dict(shape) == dict(membill.shape("llama-3-8b"))
    assert shape.source == "c.json, its text_config"
    assert shape_of({**outer, "tie_word_embeddings": True}, "a", "b").options == {"tied": True}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=4,
)


@given(st.sampled_from(MODELS), st.data())
def test_whatever_a_field_holds_it_is_read_or_refused(name: str, data: st.DataObject) -> None:
    config = fact(name)
    keys = data.draw(st.lists(st.sampled_from([*config, "architectures"]), min_size=1, max_size=3))
    config |= {key: data.draw(JSON) for key in keys}
    with suppress(InputError):
        shape = shape_of(config, "mine", "c.json")
        assert all(type(size) is int and size >= 0 for size in shape.values())
