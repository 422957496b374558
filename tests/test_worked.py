"""Whole models in numbers that others have published, and what is behind the differences."""

import pytest
import sympy

import membill
from membill import registry, units
from membill.symbols import L, T, V, b, d, h, r
from membill.units import GIB
from membill.worked import Figure, OfBill, Worked

MIB = 2**20
STATES = ("weights", "gradients", "master copy", "first moment", "second moment")
WORKED = registry.everything(Worked)
CITED = [
    pytest.param(figure, id=f"{each.name}: {figure.what}")
    for each in WORKED.values()
    for figure in each.figures
    if figure.given
]


def in_gib(size: int, places: int = 2) -> str:
    return units.decimal(sympy.Rational(size, GIB), places)


def states(bill: membill.Bill) -> int:
    return sum(bill.size(size) for name, size in bill.categories.items() if name in STATES)


def layers(bill: membill.Bill, name: str) -> int:
    return sum(bill.size(entry.bytes) for entry in bill.entries if entry.part == name)


@pytest.mark.parametrize("figure", CITED)
def test_a_published_figure_is_the_derived_one_or_it_is_said_why_not(figure: Figure) -> None:
    assert figure.equal is not bool(figure.note), figure.derived


def test_a_figure_that_differs_is_told_from_one_that_does_not() -> None:
    size = OfBill("llama-2-7b", {"b": 1, "T": 4096}, category="weights")  # 13.476831232 GB
    for given, equal in {"13.48": True, "13.47": True, "13.5": True, "13.46": False}.items():
        assert Figure("weights", given, "GB", (size,)).equal is equal, given


# Megatron-LM issue 525: GPT-2 774M in 16 bits, Adam at 18 bytes, on a card of 32 GB.
GPT_2 = {"b": 4, "T": 1024, "V": 50304, "recipe": "adam-mixed-fp32-grads"}


def gpt_2(**settings: object) -> membill.Bill:
    """Megatron-LM's layer at the sizes of the model, without norms' statistics."""
    host = membill.model("gpt-2-774m").with_layer(membill.layer("gpt"))
    return host.bill(statistics=False, **GPT_2, **settings)


def test_states_and_layers_alone_are_more_than_the_card_has() -> None:
    bill = gpt_2()
    assert bill.size(bill.parameters) == 774_090_240
    assert states(bill) == 774_090_240 * 18
    assert in_gib(states(bill)) == "12.98"
    assert layers(bill, "gpt") == sympy.Rational("20.0390625") * GIB
    assert in_gib(states(bill) + layers(bill, "gpt"), 1) == "33.0"
    assert bill.bytes > 32 * GIB


def test_the_request_that_failed_is_the_float32_logits() -> None:
    (entry,) = (each for each in gpt_2().entries if each.category == "logits and loss")
    logits = [term for term in entry.bytes.expr.args if term.has(V)]
    assert logits == [4 * T * b * V]
    assert logits[0].subs({T: 1024, b: 4, V: 50304}) == 824_180_736 == 786 * MIB


def test_without_attentions_matrices_the_layers_look_small() -> None:
    assert in_gib(layers(gpt_2(recompute="selective"), "gpt")) == "5.98"


def test_bert_large_has_a_floor_below_what_was_measured() -> None:
    """Hugging Face's "Anatomy of model's memory": 14,949 MiB, of which 1343 are context."""
    model = membill.model("bert-large", attention="eager")
    bill = model.bill(statistics=False, b=4, T=512, dtype_bytes=4, recipe="adam-fp32")
    assert bill.size(bill.parameters) == 335_141_888
    assert states(bill) == 16 * 335_141_888
    assert round(states(bill) / MIB) == 5114
    assert layers(bill, "bert") == 6624 * MIB
    floor = 1343 + round((states(bill) + layers(bill, "bert")) / MIB)
    assert floor == 13_081
    assert floor * MIB < 1343 * MIB + bill.bytes < 14_949 * MIB


# Hugging Face blog, pull request 1413: 206 GB, and 34 GB with adapters; both are GiB.
STARCODER = L * T * b * d * (30 + 4 / h + 5 * h * T / d)
ADAPTED = L * T * b * d * (18 + 2 / h + 6 * r / d)


@pytest.mark.parametrize(
    ("published", "figure"), [(STARCODER, "206.40625"), (ADAPTED, "33.88671875")]
)
def test_the_published_formulas_of_starcoder_give_its_figures(
    published: sympy.Expr, figure: str
) -> None:
    sizes = {**membill.shape("starcoder-15b").numbers(), T: 2048, b: 4, r: 32}
    assert published.subs(sizes) / GIB == sympy.Rational(figure)


def starcoder(model: membill.Model) -> sympy.Expr:
    """What its layers keep, without norms' statistics."""
    entries = model.bill(statistics=False).entries
    (kept,) = (entry.bytes for entry in entries if entry.part == "gpt_bigcode")
    return kept.expr


def test_op_by_op_keys_and_values_are_copied_for_each_head() -> None:
    kept = starcoder(membill.model("starcoder-15b", attention="eager"))
    copied = 4 * L * T * b * d * (1 - 1 / h)
    assert sympy.expand(kept - STARCODER - copied) == 0


def test_what_the_figure_with_adapters_leaves_out() -> None:
    on = ["attention.qkv", "attention.out", "mlp.down"]
    kept = starcoder(membill.model("starcoder-15b", attention="flash").adapt("lora", on=on))
    tokens = L * T * b
    left_out = {
        "the input of the MLP's second adapter": 8 * tokens * d,
        "two masks of dropout": 2 * tokens * d,
        "one of keys and values": 2 * tokens * d / h,
        "log-sum-exp": 4 * tokens * h,
    }
    assert sympy.expand(kept - ADAPTED - sum(left_out.values())) == 0


@pytest.mark.parametrize(
    ("name", "heads", "width", "model_width"),
    [("qwen3-4b", 32, 128, 2560), ("gemma-3-270m", 4, 256, 640)],
)
def test_heads_whose_widths_do_not_add_up_to_the_models(
    name: str, heads: int, width: int, model_width: int
) -> None:
    """torchtitan issue 1920: the model's width stands where the width of all heads should."""
    model = membill.model(name)
    assert heads * width != model_width == model.shape["d"]
    sizes = {**model.shape, "b": 1, "T": 100}
    queries = {2 * 100 * heads * width}
    keys = {2 * 100 * model.shape["n_kv"] * width}
    for part in model.groups[0]:
        kinds = {op.path: op.output for op in part.layer.graph().ops if op.kind == "linear"}
        for label, entries in (("q", queries), ("k", keys), ("v", keys)):
            output = kinds[f"attention.{label}"]
            size = 2 * output.entries.subs({s: sizes[s.name] for s in output.entries.free_symbols})
            assert {size} == entries, label
        inputs = [row for row in part.layer.ledger().rows if "attention.out" in row.needed_by]
        assert {row.bytes(**sizes) for row in inputs} == queries


def test_qwen3_4b_has_the_published_number_of_parameters() -> None:
    model = membill.model("qwen3-4b")
    assert model.tied
    assert model.parameters()(**model.values()) == 4_022_468_096
