"""`membill audit`, as a user runs it: the table, a module of one's own, and what can go wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the audit needs PyTorch")
pytest.importorskip("transformers", reason="some layers are Hugging Face's")

from click.testing import CliRunner, Result

from membill.cli import program

MINE = """
import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, d, h, d_ff, fused):
        super().__init__()
        self.h, self.fused = h, fused
        self.before, self.between = nn.LayerNorm(d), nn.LayerNorm(d)
        self.q, self.k, self.v = (nn.Linear(d, d) for _ in range(3))
        self.qkv = nn.Linear(d, 3 * d)
        self.out, self.up, self.down = nn.Linear(d, d), nn.Linear(d, d_ff), nn.Linear(d_ff, d)
        self.drop = nn.Dropout(0.1)

    def heads(self, x):
        y = self.before(x)
        parts = self.qkv(y).chunk(3, -1) if self.fused else (self.q(y), self.k(y), self.v(y))
        return [part.unflatten(-1, (self.h, -1)).transpose(1, 2) for part in parts]

    def forward(self, x):
        q, k, v = self.heads(x)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.drop(self.out(y.transpose(1, 2).flatten(2)))
        return x + self.drop(self.down(F.gelu(self.up(self.between(x)))))


def separate(d, h, d_ff):
    return Block(d, h, d_ff, fused=False)


def fused(d, h, d_ff):
    return Block(d, h, d_ff, fused=True)


def with_inputs(b, T, d, h, d_ff):
    return Block(d, h, d_ff, fused=False), [torch.randn(b, T, d, requires_grad=True)]


def asks_too_much(d, width):
    return nn.Identity()


def no_module():
    return 3


def falls_over(d):
    return nn.Linear(d + 1, d)
"""
AT = "--against gpt --attention flash -T 16 --set d=64 --set h=4"


@pytest.fixture
def audited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    (tmp_path / "their_package").mkdir()
    (tmp_path / "their_package" / "mine.py").write_text(MINE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def run(arguments: str) -> Result:
        return CliRunner().invoke(program, ["audit", *arguments.split()])

    return run


def test_a_layer_is_shown_beside_its_module_at_a_real_models_size(audited) -> None:
    found = audited("llama")
    assert found.exit_code == 0, found.output
    lines = found.stdout.splitlines()
    assert lines[0] == "llama in bfloat16 at b=1 d=4096 h=32 n_kv=8 d_ff=14336 T=8192"
    assert " ".join(lines[3].split()) == "ledger row shape PyTorch storage shape dtype bytes equal"
    (log_sum_exp,) = (line for line in lines if line.startswith("attention.core.flash.logsumexp"))
    assert log_sum_exp.split()[-3:] == ["float32", "1,048,576", "yes"]
    assert lines[-1].split(maxsplit=1) == ["equal", "yes, storage by storage"]


@pytest.mark.parametrize(
    "arguments",
    [
        "gpt -T 12 --set d=32 --set h=4 -b 3 --no-dropout",
        "gpt --attention eager -T 12 --set d=32 --set h=4 --device cpu --dtype float32",
        "llama --norm hugging-face --swiglu fused --model llama-3-8b -T 64",
        "mistral -T 64 -b 2 --model mistral-7b",
        f"their_package.mine:separate {AT}",
        f"their_package.mine:with_inputs {AT} --device cpu",
    ],
)
def test_equal_layers_are_said_to_be(audited, arguments: str) -> None:
    found = audited(arguments)
    assert found.exit_code == 0, found.output
    assert found.stdout.splitlines()[-1].endswith("yes, storage by storage")


def test_a_module_that_differs_is_told_by_tensor(audited) -> None:
    found = audited(f"their_package.mine:fused {AT}")
    assert found.exit_code == 1
    assert found.stdout.splitlines()[-5:] == [
        "gpt attention=flash in bfloat16 at b=1 T=16 d=64 h=4: "
        "the ledger has 35,352 B, PyTorch keeps 35,352 B",
        *(
            f"  attention.core.flash needs attention.{name}, (1, 16, 4, 16) bfloat16, 2,048 B: "
            "PyTorch keeps no such storage"
            for name in "qkv"
        ),
        "  PyTorch keeps scaled_dot_product_attention, (3072,) bfloat16, 6,144 B: "
        "the ledger has no such row",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("gptt", "unknown layer 'gptt'. Did you mean 'gpt'?"),
        ("their_package.mine:fused", "name the layer that it should equal, --against LAYER"),
        ("their_package.mine --against gpt", "give MODULE:FACTORY, such as mine:layer"),
        ("nowhere:layer --against gpt", "cannot import nowhere: No module named 'nowhere'"),
        (
            "their_package.mine:absent --against gpt",
            "their_package.mine has no function absent",
        ),
        (
            f"their_package.mine:asks_too_much {AT}",
            "asks_too_much takes width, for which there is no value; known: b, T, d, h, d_k, d_ff",
        ),
        (f"their_package.mine:no_module {AT}", "no_module returned 3, which is no module"),
        (f"their_package.mine:falls_over {AT}", "their_package.mine:falls_over failed: Runtime"),
        ("gpt --set d=64", "no value for T, h: give --set T=... --set h=... or --model NAME"),
        ("gpt --set d=0 --set h=1 -T 4", "d = 0 is not allowed"),
        ("gpt --set d=63 --set h=4 -T 4", "not a whole number"),
        ("gpt --set widht=64", "unknown symbol 'widht'"),
        ("gpt --attention flsh", "unknown attention 'flsh' of layer 'gpt'. Did you mean 'flash'?"),
        ("gpt --device tpu", "'tpu' is not one of 'meta', 'cpu'"),
        ("gpt --model gpt-4", "unknown model 'gpt-4'"),
        ("mistral --attention math", "has no variant attention=math"),
    ],
)
def test_bad_input_is_one_clear_line(audited, arguments: str, message: str) -> None:
    found = audited(arguments)
    assert found.exit_code == 2, found.output
    assert message in found.stderr
    assert found.stderr.startswith("membill: ")
    assert "Traceback" not in found.output
