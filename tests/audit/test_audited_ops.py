"""Every op alone beside its PyTorch counterpart: to the byte; and that it can fail."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("torch", reason="the audit needs PyTorch")

from membill import registry
from membill.audit import Comparison, outcome, references
from membill.audit.cases import audit_op, gradients_of
from membill.audit.references import Counterpart
from membill.spec import FLOAT32, Declared, Role, Tensor, needs, op, weight

KINDS = sorted(references.counterparts())
SIZES = {"b": 2, "T": 5, "d": 48, "h": 6, "n_kv": 2, "d_k": 8, "d_ff": 20, "V": 50}


def case_of(kind: str) -> Counterpart:
    return references.counterparts()[kind][0]


def compared(kind: str, *trainable: str, **how: str) -> Comparison:
    return audit_op(case_of(kind), SIZES, trainable, **how)


@pytest.mark.parametrize("kind", KINDS)
def test_op_keeps_what_pytorch_keeps(kind: str) -> None:
    found = outcome.of_op(kind)
    assert found.results[0].comparisons > 0
    assert not found.wrong, "\n".join(found.wrong)


def test_every_op_has_a_counterpart() -> None:
    assert set(registry.known().ops) == set(KINDS)


def test_every_choice_of_gradients_is_audited() -> None:
    assert len(list(gradients_of(case_of("flash_attention")))) == 2**3
    assert len(list(gradients_of(references.counterparts()["linear"][1]))) == 2**3


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_frozen_linear_keeps_no_input(dtype: str) -> None:
    frozen = compared("linear", "x", dtype=dtype)
    assert frozen.equal, frozen.message()
    assert frozen.bytes == (0, 0)
    width = 2 if dtype == "bfloat16" else 4
    assert compared("linear", "x", "weight", dtype=dtype).bytes == (width * 2 * 5 * 48,) * 2


@pytest.mark.parametrize("device", ["meta", "cpu"])
def test_kernels_keep_what_a_gpu_keeps(device: str) -> None:
    """A 1-byte mask; float32 statistics in bfloat16; a log-sum-exp and the generator's state."""
    dropped = compared("dropout", "x", device=device)
    assert [pair.torch.dtype for pair in dropped.pairs if pair.torch] == ["bool"]
    norm = compared("layer_norm", "x", device=device)
    assert sorted(pair.torch.dtype for pair in norm.pairs if pair.torch) == [
        "bfloat16",
        "float32",
        "float32",
    ]
    flash = compared("flash_attention", "q", "k", "v", device=device)
    assert sorted(pair.torch.dtype for pair in flash.pairs if pair.torch) == [
        *["bfloat16"] * 4,
        "float32",
        *["uint64"] * 2,
    ]


# What follows are ops that declare a wrong need. Their names are those of the right ones, which
# they must not replace: `wrong` keeps them apart.


def wrong(kind: str, declare: object, *trainable: str, **arguments: object) -> Comparison:
    with registry._collecting(registry.Registry()):
        made = op(declare)  # type: ignore[call-overload]
    case = case_of(kind)
    return audit_op(
        replace(case, call=lambda *inputs: made(*inputs, **arguments)), SIZES, trainable
    )


def test_softmax_that_needs_its_input_is_found() -> None:
    def softmax(x: Tensor) -> Declared:
        return x.like(), {x: needs(x, tex="")}

    found = wrong("softmax", softmax, "x")
    assert found.bytes[0] == found.bytes[1]  # as many bytes, but of the wrong tensor
    assert not found.equal
    assert found.message() == (
        "softmax in bfloat16, gradients of x: the ledger has 600 B, PyTorch keeps 600 B\n"
        "  softmax needs x, the input 0, (2, 6, 5, 5) bfloat16, 600 B: "
        "PyTorch keeps no such storage\n"
        "  PyTorch keeps softmax, the output, (2, 6, 5, 5) bfloat16, 600 B: "
        "the ledger has no such row"
    )


def test_linear_that_does_not_need_its_input_is_found() -> None:
    def linear(x: Tensor) -> Declared:
        w = weight("weight", *x.features, 20)
        return x.like(shape=(*x.leading, 20)), {x: needs(w, tex=""), w: needs(tex="")}

    found = wrong("linear", linear, "x", "weight")
    assert found.message() == (
        "linear in bfloat16, gradients of weight, x: the ledger has 0 B, PyTorch keeps 960 B\n"
        "  PyTorch keeps linear, the input 0, (10, 48) bfloat16, 960 B: "
        "the ledger has no such row"
    )


def test_flash_attention_without_its_log_sum_exp_is_found() -> None:
    right = case_of("flash_attention").call

    def flash_attention(q: Tensor, k: Tensor, v: Tensor) -> Declared:
        o = q.like()
        return o, {x: needs(q, k, v, o, tex="") for x in (q, k, v)}

    assert right is not flash_attention
    lines = wrong("flash_attention", flash_attention, "q").message().splitlines()
    assert (
        "  PyTorch keeps scaled_dot_product_attention, (2, 6, 5) float32, 240 B: "
        "the ledger has no such row"
    ) in lines


def test_a_tensor_of_the_wrong_width_is_found() -> None:
    def dropout(x: Tensor) -> Declared:
        mask = x.like("mask", role=Role.MASK)
        return x.like(), {x: needs(mask, tex="")}

    found = wrong("dropout", dropout, "x")
    assert [item.bytes for item in found.missing] == [960]
    assert [(item.dtype, item.bytes) for item in found.extra] == [("bool", 480)]


def test_a_statistic_too_many_is_found() -> None:
    def rms_norm(x: Tensor) -> Declared:
        mean, rstd = (x.like(n, shape=x.leading, dtype=FLOAT32) for n in ("mean", "rstd"))
        gain = weight("weight", *x.features)
        return x.like(), {x: needs(x, mean, rstd, tex=""), gain: needs(x, rstd, tex="")}

    found = wrong("rms_norm", rms_norm, "x", "weight")
    assert [item.bytes for item in found.missing] == [2 * 5 * 4]
    assert not found.extra


def test_the_ops_themselves_are_still_the_right_ones() -> None:
    assert registry.known().ops["softmax"].function.__module__.startswith("membill_specs")
