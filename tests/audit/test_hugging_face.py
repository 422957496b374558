"""Every layer of Hugging Face's that has a spec: each storage that autograd keeps, to the byte."""

from __future__ import annotations

from random import Random

import pytest

pytest.importorskip("torch", reason="the audit needs PyTorch")
pytest.importorskip("transformers", reason="the layers are Hugging Face's")

import membill
from membill import audit
from membill.audit import Comparison
from membill_specs.torch_reference.families import FAMILIES
from membill_specs.torch_reference.hugging_face import Family

ALTERNATIVES = [
    pytest.param(family, attention, id=f"{family.layer}-{attention}")
    for family in FAMILIES
    for attention in family.implementations
]

IN_PLACE = {
    ("gpt2", "eager"): (3, [3 * 4], 2),
    ("gpt_neox", "eager-float32"): (1, [3 * 4], 2),
    ("phi3", "eager-float32"): (1, [3 * 4], 2),
    ("gpt_bigcode", "eager-float32"): (3, [(4 + 2)], 2),
    ("deepseek_v3", "eager-float32"): (1, [2 * 4], 2),
    ("deepseek_v3_dense", "eager-float32"): (1, [2 * 4], 2),
    ("falcon", "eager"): (2, [1, 1], 2),
    ("falcon", "math"): (2, [1, 1], 4),
}
"""For b = 1: how many copies are not made, the heads of what is kept instead, bytes an entry."""


def draw_sizes(random: Random, family: Family) -> dict[str, int]:
    """Small dimensions. Two sequences and two heads at least, so that their order matters.

    A head's width is a multiple of 8: a flash kernel pads others, and a quarter of it is even.
    Falcon's new decoder copies keys and values to the heads that share them, but not a lone one.
    """
    lone = family.layer != "falcon_new_decoder"
    n_kv, d_k = random.randint(1 if lone else 2, 3), random.choice((8, 16, 24))
    h = n_kv * random.randint(2, 3)
    return {
        "b": random.randint(2, 3),
        "T": random.randint(3, 40),
        "d": h * 8 * random.randint(1, 5) if family.names.get("head_dim") else h * d_k,
        "h": h,
        "n_kv": n_kv,
        "d_k": d_k,
        "d_ff": random.randint(20, 90),
        "d_e": (d_e := 8 * random.randint(2, 9)),
        "E": random.choice((5, 8)),
        "k": random.randint(2, 4),
        "d_s": d_e * random.randint(1, 2),
        "d_q": random.randint(20, 90),
        "d_c": random.randint(20, 90),
        "d_n": 8 * random.randint(1, 3),
        "d_r": random.choice((8, d_k)),
        "d_v": 8 * random.randint(1, 2),
    }


def compared(family: Family, attention: str, dims: dict[str, int], **how: str | bool) -> Comparison:
    """A family's spec beside its class; dimensions that the spec defines itself are left out."""
    dropout = how.pop("dropout", False)
    layer = membill.layer(family.layer, attention=attention, dropout=dropout, **family.options)
    defined = {str(symbol) for symbol, _ in layer.definitions}
    free = {name: size for name, size in dims.items() if name not in defined}
    return audit.audit_layer(layer, free, factory=family.factory, **how)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("dropout", [False, True], ids=["no-dropout", "dropout"])
@pytest.mark.parametrize(("family", "attention"), ALTERNATIVES)
def test_small_shapes_are_exact(family: Family, attention: str, dropout: bool, dtype: str) -> None:
    for seed in range(3):
        dims = draw_sizes(Random(seed), family)
        result = compared(family, attention, dims, dropout=dropout, dtype=dtype)
        assert result.equal, result.message()


@pytest.mark.parametrize(("family", "attention"), ALTERNATIVES)
def test_real_tensors_on_a_cpu_keep_the_same(family: Family, attention: str) -> None:
    dims = draw_sizes(Random(3), family)
    result = compared(family, attention, dims, dropout=True, device="cpu")
    assert result.equal, result.message()


@pytest.mark.parametrize(("family", "attention"), ALTERNATIVES)
def test_a_real_models_shape_is_exact(family: Family, attention: str) -> None:
    dims = {**membill.shape(family.shape), "b": 2, "T": family.tokens}
    result = compared(family, attention, dims)
    assert result.equal, result.message()


@pytest.mark.parametrize(("family", "attention"), ALTERNATIVES)
def test_one_sequence_alone_is_exact_but_for_what_it_reads_in_place(
    family: Family, attention: str
) -> None:
    """With b = 1 a batched product needs no copies of the parts or heads that it reads.

    What it reads is kept instead: all of a fused projection, or the one head that all share.
    """
    T, h, d_k = 12, 4, 16
    dims = {"b": 1, "T": T, "h": h, "n_kv": h, "d_k": d_k, "d": h * d_k, "d_ff": 4 * h * d_k}
    dims |= {"d_e": 2 * h * d_k, "E": 4, "k": 2, "d_s": 2 * h * d_k}
    dims |= {"d_q": 40, "d_c": 24, "d_n": d_k, "d_r": d_k, "d_v": d_k}
    result = compared(family, attention, dims)
    copies, kept, width = IN_PLACE.get((family.layer, attention), (0, [], 0))
    assert [item.bytes for item in result.missing] == copies * [T * h * d_k * width]
    assert [item.bytes for item in result.extra] == [heads * T * d_k * width for heads in kept]


def test_every_layer_of_hugging_faces_is_audited_under_each_implementation() -> None:
    assert {family.layer for family in FAMILIES} == {
        "bert",
        "deepseek_v3",
        "deepseek_v3_dense",
        "falcon",
        "falcon_new_decoder",
        "gemma2",
        "gemma3",
        "gpt2",
        "gpt_bigcode",
        "gpt_neox",
        "llama",
        "mistral",
        "mixtral",
        "olmo2",
        "opt",
        "phi",
        "phi3",
        "qwen2",
        "qwen3",
        "qwen3_moe",
        "vit",
    }
    for family in FAMILIES:
        assert {"eager", "sdpa"} <= set(family.implementations.values())
