"""Adapters and freezing: what is kept and what trains, and what is said of a wrong place."""

from __future__ import annotations

import pytest
import sympy

import membill
from membill import symbols
from membill.errors import InputError
from membill.symbols import T, b, d, d_ff, h, n_kv, r

KV = n_kv * d / h
LLAMA = membill.layer("llama")
GPT = membill.layer("gpt")


def kept(layer: membill.Layer, **how: object) -> sympy.Expr:
    """Without statistics."""
    return layer.activations(statistics=False, **how).expr


def tensors(layer: membill.Layer) -> list[str]:
    return [row.tensor for row in layer.ledger().rows]


def test_adapters_on_queries_and_values_keep_the_norms_output_and_their_middles() -> None:
    layer = LLAMA.adapt("lora", on=["q", "v"])
    # x twice, the norm's output, q and the context; k and v; silu's two factors and up.
    wanted = 10 * T * b * d + 4 * T * b * KV + 4 * h * T * b + 6 * T * b * d_ff + 4 * T * b * r
    assert kept(layer) == sympy.expand(wanted)
    assert tensors(layer).count("norms.before_attention") == 1  # once, though both need it
    assert {"attention.q.lora_a", "attention.v.lora_a"} <= set(tensors(layer))


def test_float32_adapters_keep_a_copy_of_their_input_each() -> None:
    own, wide = (LLAMA.adapt(name, on=["q", "v"]) for name in ("lora", "lora-float32"))
    copies = 2 * 4 * T * b * d
    middles = 2 * 2 * T * b * r
    assert kept(wide) - kept(own) == copies + middles - 2 * T * b * d
    assert "norms.before_attention" not in tensors(wide)


def test_in_float32_both_kinds_are_the_same() -> None:
    own, wide = (LLAMA.adapt(name, on=["q", "v"]) for name in ("lora", "lora-float32"))
    assert kept(own, dtype_bytes=4) == kept(wide, dtype_bytes=4)


def test_on_every_linear_a_layer_keeps_all_that_it_kept_and_the_middles() -> None:
    linears = ["q", "k", "v", "out", "gate", "up", "down"]
    layer = LLAMA.adapt("lora", on=linears)
    assert kept(layer) - kept(LLAMA) == len(linears) * 2 * T * b * r
    assert kept(LLAMA.adapt("lora", on=["attention", "mlp"])) == kept(layer)


def test_the_rank_is_a_symbol_or_a_number() -> None:
    formula = LLAMA.adapt("lora", on=["q", "v"]).activations(statistics=False)
    assert "r" in formula.symbols
    assert formula.subs({r: 8}).expr == formula.expr.subs(r, 8)
    shape = {**membill.shape("llama-3-8b"), "b": 1, "T": 8192}
    assert formula.subs({r: 8})(**shape) == formula(**shape, r=8)
    with pytest.raises(InputError, match="no value for r"):
        formula(**shape)


def test_parameters_are_the_layers_and_the_adapters() -> None:
    layer = LLAMA.adapt("lora", on=["q", "v"])
    own = 2 * d * r + r * (d + KV)
    assert layer.parameters().expr - LLAMA.parameters().expr == sympy.expand(own)
    assert layer.trainable_parameters().expr == sympy.expand(own)
    assert layer.trainable_parameters().unit == "parameters"


def test_what_trains_without_adapters() -> None:
    assert GPT.trainable_parameters() == GPT.parameters()
    frozen = GPT.freeze("attention", "mlp")
    assert frozen.parameters() == GPT.parameters()
    assert frozen.trainable_parameters().expr == 4 * d  # two norms, gain and shift
    assert frozen.freeze("norms").trainable_parameters().expr == 0
    heads = GPT.trainable_parameters(specialise=False)
    assert symbols.d_k in heads.expr.free_symbols


def test_a_frozen_linear_keeps_no_input() -> None:
    layer = GPT.freeze("mlp")
    gone = set(tensors(GPT)) - set(tensors(layer))
    assert gone == {"norms.before_mlp", "mlp.gelu"}  # inputs of up and down
    assert kept(GPT) - kept(layer) == 2 * T * b * d + 2 * T * b * 4 * d


def test_one_frozen_linear_of_several_that_share_an_input_saves_nothing() -> None:
    assert kept(GPT.freeze("q")) == kept(GPT)
    assert kept(GPT) - kept(GPT.freeze("q", "k", "v")) == 2 * T * b * d


def test_freezing_goes_on_from_what_is_frozen() -> None:
    assert kept(GPT.freeze("mlp").freeze("attention")) == kept(GPT.freeze("attention", "mlp"))


def test_a_layer_stays_as_it_is() -> None:
    before = kept(LLAMA)
    LLAMA.adapt("lora", on=["q"]).freeze("mlp")
    assert kept(LLAMA) == before
    assert LLAMA.adapted is None
    assert LLAMA.frozen == ()


def test_adapters_go_with_options_and_recomputation() -> None:
    layer = LLAMA.adapt("lora", on=["q", "v"])
    assert kept(layer.variant(norm="hugging-face")) != kept(layer)
    assert kept(layer, recompute="full") == 2 * T * b * d


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            lambda: LLAMA.adapt("lorra", on=["q"]),
            "unknown adapter 'lorra'. Did you mean 'lora'? Known: float8, lora, lora-float32",
        ),
        (
            lambda: LLAMA.adapt("lora", on=["q", "upp"]),
            "unknown place for adapter lora 'upp'. Known: attention.k, attention.out, "
            "attention.q, attention.v, mlp.down, mlp.gate, mlp.up",
        ),
        (
            lambda: LLAMA.adapt("lora", on=["norms"]),
            "unknown place for adapter lora 'norms'. Known: attention.k, attention.out, "
            "attention.q, attention.v, mlp.down, mlp.gate, mlp.up",
        ),
        (
            lambda: LLAMA.adapt("lora", on="qv"),
            "on = 'qv': give a collection of scopes or ops to adapt",
        ),
        (
            lambda: LLAMA.adapt("lora", on=[]),
            "on = []: give a collection of scopes or ops to adapt",
        ),
        (
            lambda: LLAMA.adapt("lora", on=["q"]).adapt("lora", on=["v"]),
            "layer 'llama' has the adapter lora already: name all places at once",
        ),
        (
            lambda: LLAMA.freeze("mlp.dwn"),
            "unknown scope to freeze 'mlp.dwn'. Did you mean 'mlp.down.weight'? Known: "
            "attention.k.weight, attention.out.weight, attention.q.weight, attention.v.weight, "
            "mlp.down.weight, mlp.gate.weight, mlp.up.weight, norms.before_attention.weight, "
            "norms.before_mlp.weight",
        ),
        (
            lambda: LLAMA.adapt("lora", on=["q"]).activations()(b=1, T=1, d=4, h=1, n_kv=1, d_ff=4),
            "no value for r in 10Tbd + 4Tb·n_kv·d/h + 4hTb + 6Tb·d_ff + 2Tbr + 8Tb + 24: "
            "give it as r=...",
        ),
    ],
)
def test_what_is_said_of_wrong_input(wrong: object, message: str) -> None:
    with pytest.raises(InputError) as raised:
        wrong()
    assert str(raised.value) == message
