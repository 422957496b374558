"""The benchmark that needs a GPU: what it compares, and that it refuses without one."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from membill import registry
from membill.measured import Measured

FILE = Path(__file__).parent.parent / "benchmarks" / "gpu_peak.py"


@pytest.fixture(name="script")
def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gpu_peak", FILE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_peak_is_compared_part_by_part(script: ModuleType) -> None:
    figure = registry.find(Measured, "llama-3-8b-gpu-kernels")
    peak = script.derived(dict(figure.options), figure.model, 1, 8192)
    first, *rows, share = script.compared(peak, figure.bytes + 1000)
    assert peak.event.name in first
    sizes = {row[:26].strip(): int(row[26:].split(" B")[0].replace(",", "")) for row in rows}
    assert (sizes["derived"], sizes["measured"]) == (figure.bytes, figure.bytes + 1000)
    assert sizes["measured - derived"] == 1000
    parts = [name for name in sizes if name not in ("derived", "measured", "measured - derived")]
    assert sum(sizes[name] for name in parts) == figure.bytes
    assert share.split() == ["of", "the", "measured", "+0.000", "%"]


def test_every_case_can_be_derived(script: ModuleType) -> None:
    for _, name, b, T in script.CASES:
        assert script.derived({}, name, b, T).bytes > 0


def test_it_refuses_without_a_gpu() -> None:
    try:
        import torch
    except ImportError:
        torch = None
    if torch is not None and torch.cuda.is_available():
        pytest.skip("there is a GPU")
    run = subprocess.run([sys.executable, str(FILE)], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    expected = "PyTorch is not installed" if torch is None else "no CUDA GPU"
    assert expected in run.stderr
