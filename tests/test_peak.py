"""The peak of a step: its events, its timeline, what sets it, and where it is from."""

from itertools import pairwise

import pytest
import sympy

import membill
from membill import registry
from membill.errors import InputError
from membill.events import AGAIN, BACKWARD, FORWARD_ENDS, UPDATE, Event
from membill.measured import Measured
from membill.outweighing import outweighs
from membill.peak import Peak
from membill.recipe import Recipe
from membill.symbols import L, T, V, b, d
from membill.timeline import timeline

LLAMA = {"b": 1, "T": 8192, "recipe": "adam-bf16"}
SMALL = {"L": 3, "d": 64, "h": 4, "n_kv": 2, "d_ff": 128, "V": 500, "T": 32, "b": 2}


def llama(**settings: object) -> Peak:
    model = membill.model("llama-3-8b", norm="hugging-face")
    return model.peak(**{**LLAMA, **settings})


def named(peak: Peak, name: str) -> tuple[Event, int]:
    return next((event, size) for event, size in peak.each().items() if event.name == name)


@pytest.mark.parametrize("figure", registry.everything(Measured).values(), ids=lambda f: f.name)
def test_a_measured_peak_is_explained_to_the_byte(figure: Measured) -> None:
    assert figure.unexplained == 0


def test_the_working_set_of_the_loss() -> None:
    event = llama().event
    assert event.name == "backward of head, at loss.cross_entropy"
    assert event.categories["working set"].expr == 8 * T * b * V + 4
    assert event.categories["outputs held"].expr == 2 * T * b * V + 4


def test_without_the_output_the_logits_are_gone() -> None:
    assert llama().bytes - llama(held=False).bytes == 2 * 8192 * 128256


@pytest.mark.parametrize("name", registry.everything(Recipe))
@pytest.mark.parametrize("zero", [0, 2, 3])
def test_the_end_of_forward_is_the_bill_without_gradients(name: str, zero: int) -> None:
    settings = {**SMALL, "recipe": name, "zero": zero, "dp": 4}
    if "gradients" not in {state.kind for state in registry.find(Recipe, name).states}:
        with pytest.raises(InputError, match="keeps no gradients"):
            membill.model("llama").peak(**settings)
        return
    peak = membill.model("llama").peak(**settings)
    whole = next(event for event in peak.events if event.phase == FORWARD_ENDS)
    sizes = {name: size(**peak.bill.values) for name, size in whole.categories.items()}
    logits = sizes.pop("outputs held")
    gradients = sizes.get("gradients", 0)
    apart = sum(peak.bill.size(e.bytes) for e in peak.bill.entries if e.category == "gradients")
    assert logits == 2 * 2 * 32 * 500 + 4
    assert sum(sizes.values()) == peak.bill.bytes - apart + gradients


@pytest.mark.parametrize("settings", [{}, {"recompute": "full"}, {"zero": 3, "dp": 2}])
def test_the_timeline_has_every_layer_and_the_peak(settings: dict[str, object]) -> None:
    peak = membill.model("llama").peak(**SMALL, **settings)
    points = timeline(peak)
    backward = [point.layer for point in points if point.phase == BACKWARD]
    assert backward == [None, 2, 1, 0, None]
    largest = max(points, key=lambda point: point.bytes)
    assert largest.bytes == peak.bytes or peak.event.phase not in (BACKWARD, AGAIN, UPDATE)


def test_a_layer_between_is_between_the_first_and_the_last() -> None:
    points = timeline(llama())
    layers = [
        point.bytes for point in points if point.phase == BACKWARD and point.layer is not None
    ]
    steps = {before - after for before, after in pairwise(layers)}
    assert len(layers) == 32
    assert len(steps) <= 2, "equal but for the tables, which the first layer frees"


def test_the_last_layer_is_no_event_where_there_is_one_layer() -> None:
    peak = membill.model("llama").peak(**{**SMALL, "L": 1})
    assert not any("last layer" in event.name for event in peak.sizes() if event.phase == BACKWARD)


def test_full_recomputation_keeps_one_layer_at_a_time() -> None:
    whole, again = llama(), llama(recompute="full")
    layer, values = again.bill.model.groups[0][0].layer, again.bill.values
    boundary = layer.activations(recompute="full")(**values)
    kept = layer.activations()(**values) - boundary
    for name, saved in {
        "backward of head, at loss.cross_entropy": 32 * kept,
        "backward of llama, last layer, at mlp.product": 31 * kept - boundary,
    }.items():
        assert named(whole, name)[1] - named(again, name)[1] == saved


def test_gradients_are_divided_once_a_layer_is_through() -> None:
    name = "backward of llama, first layer, at mlp.product"
    alone, divided = (named(llama(zero=zero, dp=8), name)[0] for zero in (1, 2))
    values = llama().bill.values
    sizes = [event.categories["gradients"](**values) for event in (alone, divided)]
    layer = 2 * (2 * 4096**2 + 2 * 4096 * 1024 + 3 * 4096 * 14336 + 2 * 4096)
    others = 31 * layer + 2 * 128256 * 4096 + 2 * 4096
    own = 2 * 4096 * 14336
    assert sizes == [others + own, -(-others // 8) + own]


@pytest.mark.parametrize("plan", [{"zero": 3, "dp": 8}, {"offload": ["weights"]}])
def test_gathered_weights_are_of_one_layer(plan: dict[str, object]) -> None:
    event, _ = named(llama(**plan), "backward of llama, last layer, at mlp.product")
    layer = membill.model("llama-3-8b").groups[0][0].layer
    assert event.categories["gathered weights"].expr == 2 * layer.parameters().expr


def test_gradients_that_are_moved_out_are_there_of_one_layer() -> None:
    name = "backward of llama, first layer, at mlp.product"
    event, _ = named(llama(offload=["gradients"]), name)
    assert event.categories["gradients"](**llama().bill.values) == 2 * 4096 * 14336


def test_several_micro_batches_add_to_gradients_that_are_there() -> None:
    run = {"schedule": "1f1b", "pp": 2, "stage": 1}
    once, often = (llama(micro_batches=m, **run) for m in (1, 8))
    name = "backward of head, at loss.cross_entropy"
    assert "gradients" not in named(once, name)[0].categories
    whole = next(entry for entry in often.bill.entries if entry.category == "gradients")
    assert named(often, name)[0].categories["gradients"].expr == whole.bytes.expr


def test_a_tied_weight_is_waited_for_under_every_policy() -> None:
    model = membill.model("gpt-2-124m")
    settings = {"b": 1, "T": 1024, "recipe": "adam-mixed-fp32-grads"}
    tied, apart = (
        model.variant(tied=on).peak(recompute="selective", **settings) for on in (True, False)
    )
    waits = 2 * 50257 * 768

    def working(peak: Peak) -> int:
        event = next(each for each in peak.events if each.name.startswith("backward of gpt2, last"))
        return peak.bill.size(event.categories["working set"])

    assert working(tied) - working(apart) == waits


def test_a_stage_of_a_pipeline_holds_its_micro_batches() -> None:
    peak = llama(schedule="1f1b", pp=4, micro_batches=8)
    assert peak.bytes == max(
        llama(schedule="1f1b", pp=4, micro_batches=8, stage=stage).bytes for stage in range(4)
    )


def test_the_update_makes_roots_unless_it_is_fused() -> None:
    name, parameters = "update", llama().bill.parameters(**llama().bill.values)
    assert named(llama(), name)[1] - named(llama(fused=True), name)[1] == 2 * parameters


def test_which_event_is_larger_by_one_letter() -> None:
    peak = llama()
    loss, _ = named(peak, "backward of head, at loss.cross_entropy")
    layer, _ = named(peak, "backward of llama, last layer, at mlp.product")
    found = outweighs(loss, layer, "V", **peak.bill.values)
    assert (found.letter, found.above) == ("V", True)
    less, more = sympy.floor(found.bound), sympy.floor(found.bound) + 1
    for size, larger in ((less, False), (more, True)):
        values = {**peak.bill.values, "V": int(size)}
        assert (loss.total(**values) > layer.total(**values)) is larger
    with pytest.raises(InputError, match="depends on T, b, d: give values"):
        outweighs(loss, layer, "V")
    with pytest.raises(InputError, match="not differ by a multiple"):
        outweighs(loss, layer, "k")


def test_every_architecture_has_a_peak_in_letters() -> None:
    for name in registry.everything(membill.architecture.Architecture):
        events = membill.model(name).peak().events
        assert {BACKWARD, UPDATE} <= {event.phase for event in events}


def test_letters_without_values_are_asked_for() -> None:
    with pytest.raises(InputError, match="no value for"):
        _ = membill.model("llama").peak(b=1, T=8).bytes
    assert membill.model("llama").peak().at(**SMALL).phase
    assert L in membill.model("llama").peak().events[-1].total.expr.free_symbols - {d}
