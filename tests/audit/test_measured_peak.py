"""The peak of a step: derived, watched storage by storage, and by PyTorch's MemTracker."""

import random
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from membill import registry  # noqa: E402
from membill.audit import references  # noqa: E402
from membill.audit.peak import (  # noqa: E402
    CLIP,
    GRADIENT,
    Step,
    Training,
    tracked,
    training,
    watched,
)
from membill.events import CLIPPING  # noqa: E402
from membill.measured import Measured  # noqa: E402
from membill.peak import Peak  # noqa: E402

LLAMA, GPT2 = "LlamaForCausalLM", "GPT2LMHeadModel"
TIED = (GPT2, "OPTForCausalLM", "GPTBigCodeForCausalLM")
SMALL = {"L": 2, "d": 64, "h": 4, "n_kv": 2, "d_ff": 256, "V": 500, "T": 32, "b": 2}
CASES = {
    "loss": {"V": 5000, "T": 128},
    "layer": {"V": 8, "T": 256},
    "update": {"T": 4, "b": 1},
}
FLASH, EAGER, WIDE = ({"attention": name} for name in ("flash", "eager", "eager-float32"))
OTHERS = {
    "MistralForCausalLM": (FLASH, WIDE),
    "Qwen2ForCausalLM": (FLASH, WIDE),
    "Qwen3ForCausalLM": (FLASH, WIDE),
    "Olmo2ForCausalLM": (FLASH, WIDE),
    "Phi3ForCausalLM": (FLASH, WIDE),
    "OPTForCausalLM": (WIDE,),
    GPT2: (EAGER,),
    LLAMA: (WIDE,),
}
Dims = Mapping[str, int]


def rule(parameters: Any) -> Any:
    return torch.optim.AdamW(parameters, foreach=True)


def sizes(dims: Dims) -> Dims:
    """All dimensions; a table of positions has as many as there are tokens."""
    full = {**SMALL, **dims}
    return {"P": full["T"], **full, "d_k": full["d"] // full["h"]}


def started(name: str, dims: Dims, options: Mapping[str, Any] = FLASH, **how: Any) -> Any:
    """A training of a class of Hugging Face's, ready for its second step."""
    factory = references.models()[name].factory
    return training(lambda: factory(**options, **sizes(dims)), rule, **how)


def derived(name: str, dims: Dims, options: Mapping[str, Any] = FLASH, **settings: Any) -> Peak:
    """The same step as Membill has it, under the eye of a dispatch mode."""
    model = references.models()[name].spec({**options, **({"tied": True} if name in TIED else {})})
    return model.peak(recipe="adam-bf16", in_place=False, **sizes(dims), **settings)


@pytest.mark.parametrize("name", [LLAMA, GPT2])
@pytest.mark.parametrize("case", CASES)
def test_the_peak_is_the_tracker_s(name: str, case: str) -> None:
    with started(name, CASES[case]) as made:
        step, theirs = watched(made), tracked(made)
    assert step.peak == theirs["Total"] == sum(life.bytes for life in step.alive(step.at))
    assert derived(name, CASES[case]).bytes == step.peak


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", [LLAMA, GPT2])
def test_the_peak_at_random_shapes(name: str, seed: int) -> None:
    draw = random.Random(seed)
    h = draw.choice((2, 4, 8))
    d = h * draw.choice((16, 32))
    dims = {
        "L": draw.choice((1, 2, 3)),
        "h": h,
        "n_kv": draw.choice([n for n in (1, 2, 4, 8) if h % n == 0]),
        "d": d,
        "d_ff": 4 * d if name == GPT2 else d * draw.choice((1, 2, 8)),
        "V": draw.choice((8, 64, 1000, 8000)),
        "T": draw.choice((16, 64, 256)),
        "b": draw.choice((1, 2, 3)),
    }
    held = draw.random() < 0.6
    with started(name, dims, held=held) as made:
        assert derived(name, dims, held=held).bytes == watched(made).peak, dims


@pytest.mark.parametrize("case", ["loss", "layer"])
@pytest.mark.parametrize(
    ("name", "options"), [(name, each) for name in OTHERS for each in OTHERS[name]]
)
def test_the_peak_of_other_classes(name: str, options: Mapping[str, Any], case: str) -> None:
    with started(name, CASES[case], options) as made:
        assert derived(name, CASES[case], options).bytes == watched(made).peak


def test_llama_3_8b_to_the_byte() -> None:
    figure = registry.find(Measured, "llama-3-8b-gpu-kernels")
    shape = registry.shape(figure.model)
    sizes = {"b": figure.settings["b"], "T": figure.settings["T"]}
    with started(LLAMA, {**shape, **sizes}) as made:
        assert tracked(made)["Total"] == figure.bytes == figure.peak.bytes


@pytest.mark.parametrize("case", CASES)
def test_where_the_peak_is(case: str) -> None:
    with started(LLAMA, CASES[case]) as made:
        step = watched(made)
    moment, event = step.moments[step.at], derived(LLAMA, CASES[case]).event
    found = {
        "loss": moment.op == "_log_softmax_backward_data" and event.path == "loss.cross_entropy",
        "layer": ".norm PowBackward0" in moment.module and event.path == "final_norm.square",
        "update": moment.op == "_foreach_sqrt" and event.phase == "update",
    }
    assert found[case], (moment, event.name)


@pytest.fixture(name="pair")
def _pair() -> Iterator[tuple[Training, Step]]:
    with started(LLAMA, {}, clip=1.0) as made:
        yield made, watched(made)


def test_clipping_makes_little(pair: tuple[Training, Step]) -> None:
    _, step = pair
    ours = {event.phase: size for event, size in derived(LLAMA, {}, clip=True).sizes().items()}
    assert ours[CLIPPING] == max(each.bytes for each in step.moments if each.phase == CLIP)


def test_every_parameter_gets_one_gradient_of_its_bytes(pair: tuple[Training, Step]) -> None:
    made, step = pair
    gradients = [life.bytes for life in step.lives if life.kind == GRADIENT]
    weights = [p.numel() * p.element_size() for p in made.module.parameters()]
    assert sorted(gradients) == sorted(weights)


def test_a_step_leaves_nothing_behind(pair: tuple[Training, Step]) -> None:
    _, step = pair
    left = {life.kind for life in step.lives if life.died is None}
    assert left == {"parameter", "buffer", "input", "state"}


class Doubled(torch.autograd.Function):
    """Twice its input; it notes where its gradients lie."""

    places: ClassVar[list[int]] = []

    @staticmethod
    def forward(_: Any, x: Any) -> Any:
        return 2 * x

    @staticmethod
    def backward(_: Any, gradient: Any) -> Any:
        result = 2 * gradient
        Doubled.places.append(result.data_ptr())
        return result


@pytest.mark.parametrize("watching", [False, True])
def test_gradients_are_added_in_place_unless_a_mode_watches(watching: bool) -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return func(*args, **(kwargs or {}))

    x = torch.randn(64, 64, requires_grad=True)
    Doubled.places.clear()
    total = (Doubled.apply(x) + Doubled.apply(x)).sum()
    if watching:
        with Mode():
            total.backward()
    else:
        total.backward()
    assert (x.grad.data_ptr() in Doubled.places) is not watching
