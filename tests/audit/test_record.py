"""The recorder: what counts as one storage, what is left out, and what runs in place of what."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="the audit needs PyTorch")

import torch
from torch import nn
from torch.nn import functional as F

from membill import audit
from membill.audit import Record
from membill.errors import InputError


def tensor(*shape: int, device: str = "meta") -> torch.Tensor:
    return torch.randn(*shape, device=device, dtype=torch.bfloat16, requires_grad=True)


def bytes_of(record: Record) -> list[int]:
    return [storage.bytes for storage in record.storages]


@pytest.mark.parametrize("device", ["meta", "cpu"])
def test_a_storage_counts_once_and_whole_whatever_the_views(device: str) -> None:
    def halves(x: torch.Tensor) -> torch.Tensor:
        first, second = (x * 1).chunk(2, dim=-1)
        return F.silu(first) + second.exp() * F.gelu(first)

    record = audit.saved(halves, tensor(4, 32, device=device))
    whole, *others = record.storages
    assert (whole.bytes, whole.shape) == (4 * 32 * 2, (128,))
    assert {storage.bytes for storage in others} == {4 * 16 * 2}


@pytest.mark.parametrize("trainable", [True, False])
def test_parameters_are_left_out_frozen_or_not(trainable: bool) -> None:
    layer = nn.Linear(16, 8, device="meta", dtype=torch.bfloat16).requires_grad_(trainable)
    record = audit.saved(layer, tensor(4, 16))
    assert bytes_of(record) == ([4 * 16 * 2] if trainable else [])


def test_parameters_of_a_function_are_named_by_the_caller() -> None:
    w = tensor(16)
    x = tensor(4, 16)
    assert bytes_of(audit.saved(lambda x: x * w, x)) == [16 * 2, 4 * 16 * 2]
    assert bytes_of(audit.saved(lambda x: x * w, x, parameters=[w])) == [4 * 16 * 2]


def test_buffers_and_shared_tensors_are_tables() -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("table", torch.ones(16))

        def forward(self, x: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
            return x * self.table * other

    other = torch.ones(16)
    x = torch.randn(4, 16, requires_grad=True)
    assert [s.table for s in audit.saved(Scaled(), x, other).storages] == [True, False]
    record = audit.saved(Scaled(), x, other, shared=[other])
    assert [s.table for s in record.storages] == [True, True]


def test_each_storage_says_who_saved_it_and_whose_it_is() -> None:
    model = nn.Sequential(nn.Linear(16, 8), nn.GELU(), nn.Softmax(dim=-1))
    record = audit.saved(model, torch.randn(4, 16, requires_grad=True))
    assert [(s.name, s.origin) for s in record.storages] == [
        ("0 linear", "input 0"),
        ("1 gelu", ""),
        ("2 softmax", "output"),
    ]
    assert record.torch_version == torch.__version__
    assert record.bytes == 4 * (4 * 16 + 4 * 8 + 4 * 8)


def test_the_record_is_the_same_each_time_and_holds_if_storages_die_on_the_way() -> None:
    def many(x: torch.Tensor) -> torch.Tensor:
        for _ in range(20):
            with torch.no_grad():
                x + 1
            x = F.gelu(x)
        return x

    first, second = (audit.saved(many, tensor(4, 16)) for _ in range(2))
    assert first == second
    assert len(first.storages) == 20


@pytest.mark.parametrize("device", ["meta", "cpu"])
def test_what_only_a_result_needs_that_is_thrown_away_is_not_kept(device: str) -> None:
    def chosen(x: torch.Tensor) -> torch.Tensor:
        places = F.gelu(x * 2).topk(3).indices
        return x.sigmoid().gather(-1, places)

    record = audit.saved(chosen, tensor(4, 16, device=device))
    assert sorted(bytes_of(record)) == [4 * 3 * 8, 4 * 16 * 2]


def test_no_gradient_no_storage() -> None:
    x = torch.randn(4, 16)
    assert audit.saved(lambda x: F.layer_norm(F.gelu(x), (16,)), x).storages == ()


@pytest.mark.parametrize("p", [0.0, 0.1])
@pytest.mark.parametrize("training", [True, False])
def test_dropout_keeps_a_mask_if_it_drops(p: float, training: bool) -> None:
    module = nn.Dropout(p).train(training)
    record = audit.saved(module, tensor(4, 16, device="cpu"))
    assert bytes_of(record) == ([64] if p and training else [])
    bare = audit.saved(module, tensor(4, 16, device="cpu"), kernels=False)
    assert bytes_of(bare) == ([128] if p and training else [])


def test_a_cpu_without_the_kernels_keeps_statistics_in_bfloat16() -> None:
    norm = nn.LayerNorm(16, dtype=torch.bfloat16)
    x = tensor(4, 16, device="cpu")
    assert bytes_of(audit.saved(norm, x)) == [128, 16, 16]
    assert bytes_of(audit.saved(norm, x, kernels=False)) == [128, 8, 8]


@pytest.mark.filterwarnings("ignore:Mismatch dtype")
def test_a_gain_of_another_dtype_takes_the_norm_apart_as_on_a_gpu() -> None:
    norm = nn.RMSNorm(16, device="meta", dtype=torch.float32)
    dtypes = [s.dtype for s in audit.saved(norm, tensor(4, 16)).storages]
    assert dtypes.count("float32") > 1


@pytest.mark.parametrize("device", ["meta", "cpu"])
def test_flash_attention_pads_heads_that_are_no_multiple_of_8(device: str) -> None:
    q, k, v = (tensor(2, 3, 5, 12, device=device) for _ in range(3))
    record = audit.saved(F.scaled_dot_product_attention, q, k, v, is_causal=True)
    padded = 2 * 3 * 5 * 16 * 2
    assert sorted(bytes_of(record)) == sorted([*[padded] * 4, 2 * 3 * 5 * 4, 16, 8])


def test_results_on_a_cpu_are_those_of_pytorch() -> None:
    x = torch.randn(4, 16, requires_grad=True)
    q = torch.randn(2, 3, 5, 8, requires_grad=True)
    kept: list[torch.Tensor] = []

    def run(x: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
        kept.append(F.layer_norm(x, (16,)))
        kept.append(F.rms_norm(x, (16,)))
        kept.append(F.scaled_dot_product_attention(q, q, q, is_causal=True))
        return kept[-1]

    audit.saved(run, x, q)
    run(x, q)
    for with_kernels, bare in zip(kept[:3], kept[3:], strict=True):
        torch.testing.assert_close(with_kernels, bare)


def test_a_mask_for_flash_attention_is_an_error() -> None:
    q = tensor(2, 3, 5, 8)
    with pytest.raises(InputError, match=r"got attn_mask: flash attention takes none"):
        audit.saved(F.scaled_dot_product_attention, q, q, q, attn_mask=tensor(5, 5))


def test_nothing_of_the_kernels_stays_behind() -> None:
    norm = nn.RMSNorm(16, device="meta", dtype=torch.bfloat16)
    packed: list[torch.Tensor] = []

    def pack(saved: torch.Tensor) -> torch.Tensor:
        packed.append(saved)
        return saved

    audit.saved(norm, tensor(4, 16))
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved):
        norm(tensor(4, 16))
    assert len(packed) > 3  # taken apart again, as PyTorch does without a GPU
