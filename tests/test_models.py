"""Whole models: every published count, what their parts add up to, their options."""

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import sympy
from javascript import Node

import membill
from membill import InputError, printer, registry
from membill.architecture import Architecture, repeat
from membill.formula import Formula
from membill.ledger import collect, price, total
from membill.symbols import E, L, P, T, V, b, beta, d, d_e, d_ff, d_k, h, n_kv
from membill.tracing import trace
from membill.unrolled import order, unrolled

FACTS = tomllib.loads((Path(__file__).parent / "facts" / "published.toml").read_text("utf-8"))
SPECS = registry.everything(Architecture)
SHAPES = registry.known().shapes
FEW = {"L": 6, "L_d": 2, "L_f": 2}


def same(found: Formula, expected: sympy.Expr) -> bool:
    return sympy.expand(found.expr - expected) == 0


@pytest.mark.parametrize("fact", FACTS["parameters"], ids=lambda fact: fact["model"])
def test_published_parameters(fact: dict[str, str | int]) -> None:
    model = membill.model(str(fact["model"]))
    assert model.parameters()(**membill.shape(model.name)) == fact["total"]


CLOSED_FORMS = {
    "gpt": L * (12 * d**2 + 13 * d) + V * d + P * d + 2 * d + V * d,
    "opt": L * (12 * d**2 + 13 * d) + V * d + (P + 2) * d + 2 * d + V * d,
    "llama": L * (2 * d**2 + 2 * n_kv * d**2 / h + 3 * d * d_ff + 2 * d) + 2 * V * d + d,
    "qwen3": L * (2 * h * d_k * d + 2 * n_kv * d_k * d + 2 * d_k + 3 * d * d_ff + 2 * d)
    + 2 * V * d
    + d,
    "mixtral": L * (2 * d**2 + 2 * n_kv * d**2 / h + E * d + 3 * E * d * d_e + 2 * d)
    + 2 * V * d
    + d,
    "falcon": L * (10 * d**2 + 2 * d**2 / h + 2 * d) + 2 * V * d + 2 * d,
    "bert": L * (12 * d**2 + 13 * d) + V * d + P * d + 2 * d + 2 * d + d**2 + d,
}


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_parameters_in_closed_form(name: str) -> None:
    assert same(membill.model(name).parameters(), CLOSED_FORMS[name])


def test_a_tied_head_counts_once() -> None:
    for name in ("gpt", "llama", "gemma2"):
        untied, tied = (membill.model(name, tied=value).parameters() for value in (False, True))
        assert same(untied, tied.expr + V * d)
    assert membill.model("gpt-2-124m").options["tied"] is True
    whole = membill.model("gpt-2-124m", tied=False).parameters()(**membill.shape("gpt-2-124m"))
    assert whole == 124_439_808 + 50257 * 768


@pytest.mark.parametrize("name", SPECS)
def test_a_model_keeps_what_its_parts_keep(name: str) -> None:
    """Run as one function, it keeps the same: no storage of one part is another's too."""
    model = membill.model(name)
    graph = trace(name, unrolled(model, FEW), {})
    whole = price(collect(graph), graph.weights, {beta: sympy.Integer(2)}, ())
    parts = model.activations(specialise=False).expr
    letters = {symbol: FEW[symbol.name] for symbol in parts.free_symbols if symbol.name in FEW}
    kept = total(row.bytes for row in (*whole.rows, *whole.tables))
    assert same(kept, parts.subs(letters))
    assert same(whole.parameters(), model.parameters(specialise=False).expr.subs(letters))


@pytest.mark.parametrize("name", SHAPES)
def test_a_known_model_has_a_number_for_every_letter(name: str) -> None:
    model = membill.model(name)
    assert set(model.parameters().symbols) <= model.shape.keys()
    assert set(model.activations().symbols) <= {*model.shape, "b", "T"}


def logits(loss: str, **options: str | bool) -> Formula:
    """What the final norm and all after it keep, without statistics."""
    end = membill.model("gpt", loss=loss, **options).end
    return end.ledger(membill.plan(), statistics=False).total()


LOSSES = {
    "eager": 4 * T * b * d + 4 * T * b * V + 8 * T * b,
    "eager-one-sequence": 4 * T * b * d + 4 * T * b * V + 8 * b * (T + 1),
    "compute": 4 * T * b * d + 2 * T * b * V + 8 * T * b,
    "fused": 4 * T * b * d + 2 * V * d,
    "chunked": 4 * T * b * d + 8 * T * b + 4 * T * b,
}


@pytest.mark.parametrize("loss", LOSSES)
def test_what_a_loss_keeps(loss: str) -> None:
    """Besides the final norm's input: the head's, and what is kept of the logits."""
    assert same(logits(loss), LOSSES[loss])


def test_every_loss_is_tested() -> None:
    assert set(registry.known().choices["loss"]) == set(LOSSES)


@pytest.mark.parametrize("loss", LOSSES)
def test_no_loss_changes_the_parameters(loss: str) -> None:
    for name in ("gpt-2-124m", "llama-3-8b", "phi-1.5"):
        usual, other = membill.model(name), membill.model(name, loss=loss)
        assert usual.parameters() == other.parameters()


def test_a_cap_of_the_logits_is_kept_unless_it_is_within_a_kernel() -> None:
    eager, chunked = (membill.model("gemma2", loss=loss).end for loss in ("eager", "chunked"))
    plan = membill.plan()
    assert 2 * T * b * V in [row.bytes.expr for row in eager.ledger(plan).rows]
    assert not [row for row in chunked.ledger(plan).rows if {T, V} <= {*row.shape}]


def test_options_reach_every_part_that_has_them() -> None:
    model = membill.model("llama-3-8b", norm="hugging-face", attention="eager")
    assert [part.layer.chosen.get("norm") for part in model.parts[1:]] == 2 * ["hugging-face"]
    assert model.options == {
        "tied": False,
        "attention": "eager",
        "norm": "hugging-face",
        "swiglu": "eager",
        "attention_bias": False,
        "mlp_bias": False,
        "dropout": False,
        "loss": "eager",
    }


def test_a_pattern_goes_through_all_layers_in_order() -> None:
    kinds = [part.cache for part in order(membill.model("gemma2"), {"L": 4})]
    assert kinds == 2 * ["sliding-window", "grouped-query"]
    kinds = [part.cache for part in order(membill.model("gemma3"), {"L": 8})]
    assert kinds == [*5 * ["sliding-window"], "grouped-query", *2 * ["sliding-window"]]
    names = [
        part.name for part in order(membill.model("deepseek-v3"), membill.shape("deepseek-v3"))
    ]
    assert names == [*3 * ["deepseek_v3_dense"], *58 * ["deepseek_v3"]]


@pytest.mark.parametrize("layers", [1, 5, 6, 18, 26, 34, 62])
def test_a_pattern_that_layers_cut_short_counts_all_of_them(layers: int, node: Node) -> None:
    model, sizes = membill.model("gemma3"), {"L": layers, "b": 2, "T": 9, "w": 4, "n_kv": 1}
    given = {**membill.shape("gemma-3-270m"), **sizes}
    last = model.groups[-1][0].times
    assert printer.text(last) == "L - 6·⌊L/6⌋"
    assert printer.latex(last) == r"L - 6 \left\lfloor \frac{L}{6} \right\rfloor"
    for size, text in {
        model.parameters(): "2Ld·h·d_k + 2Ld·n_kv·d_k + 3Ld·d_ff + 2dV + 4Ld + d + 2L·d_k",
        model.cache().total: (
            "4Lb·n_kv·d_k·min(T, w) + 4Tb·n_kv·d_k·⌊L/6⌋ - 4b·n_kv·d_k·min(T, w)·⌊L/6⌋"
        ),
        Formula(last, "layers"): "L - 6·⌊L/6⌋",
    }.items():
        own = {name: given[name] for name in size.symbols}
        number = size(**own)
        assert str(size) == text
        assert eval(size.python(), {"min": min, **own}) == number
        assert node.evaluate(size.javascript(), own) == number
    kept = [entry.bytes for entry in model.bill().entries if entry.part == "gemma3"]
    assert kept == [membill.layer("gemma3").activations() * L]
    every = [part.cache for part in order(model, sizes)]
    wide, narrow = (every.count(kind) for kind in ("grouped-query", "sliding-window"))
    assert wide + narrow == layers == model.layers.subs(L, layers)
    assert model.cache().total(**given) == 2 * 2 * 2 * 256 * (wide * 9 + narrow * 4)


def test_buffers_are_there_and_take_no_part_in_the_rest() -> None:
    start = membill.model("llama").start
    rows = start.ledger(membill.plan()).buffers
    assert [(row.tensor, row.shape) for row in rows] == [
        ("rotary.inv_freq", (d / (2 * h),)),
        ("rotary.original_inv_freq", (d / (2 * h),)),
    ]
    assert same(start.layer.parameters(), V * d)


NAMES = ", ".join(sorted({*SHAPES, *SPECS}))
LOSS_NAMES = ", ".join(sorted(LOSSES))
MESSAGES = {
    lambda: membill.model("my model"): f"unknown model 'my model'. Known: {NAMES}",
    lambda: membill.model(3): f"unknown model 3. Known: {NAMES}",
    lambda: membill.model("gpt", swiglu="fused"): (
        "unknown option 'swiglu' of model 'gpt'. Known: attention, dropout, loss, tied"
    ),
    lambda: membill.model("gemma3", local=True): (
        "unknown option 'local' of model 'gemma3'. Known: attention, dropout, loss, tied"
    ),
    lambda: membill.model("vit", tied=True): (
        "unknown option 'tied' of model 'vit'. Known: attention, dropout"
    ),
    lambda: membill.model("gpt", loss="none"): (
        f"unknown loss 'none' of layer 'layer_norm_head'. Known: {LOSS_NAMES}"
    ),
    lambda: membill.model("gpt", tied="yes"): "tied = 'yes' of model 'gpt': give True or False",
    lambda: order(membill.model("gpt"), {}): "model 'gpt': no value for L",
    lambda: order(membill.model("deepseek_v3"), {"L": 2, "L_d": 3}): (
        "model 'deepseek_v3': L - L_d = -1 layers"
    ),
    lambda: repeat(L): "repeat(L) repeats nothing: name the layers",
    lambda: repeat("L", "gpt"): "times = 'L': give how often, an integer > 0, or a symbol",
}


@pytest.mark.parametrize("call", MESSAGES)
def test_messages(call: Callable[[], object]) -> None:
    with pytest.raises(InputError) as raised:
        call()
    assert str(raised.value) == MESSAGES[call]
