"""The peak of a training step on a CUDA GPU, beside the derived one, part by part.

Run on a machine with a GPU, with what the audit needs installed:
python benchmarks/gpu_peak.py [CLASS MODEL b T]..., such as LlamaForCausalLM llama-3-8b 1 2048.

Weights are random, from the class's configuration; bfloat16, SDPA, torch.optim.AdamW as it comes.
Labels are the token ids. The measured figure is torch.cuda.max_memory_allocated in the last of a
few steps, in which the output of the model is held. It has besides what kernels use within
themselves, and allocations rounded up to 512 bytes.
"""

from __future__ import annotations

import datetime
import platform
import sys
from typing import Any

from membill import model, units
from membill.peak import Peak

STEPS = 3
CASES = (
    ("GPT2LMHeadModel", "gpt-2-124m", 8, 1024),
    ("LlamaForCausalLM", "llama-3-8b", 1, 2048),
    ("Qwen3ForCausalLM", "qwen3-4b", 1, 4096),
)


def derived(options: dict[str, Any], name: str, b: int, T: int) -> Peak:
    """The peak of the same step as Membill has it."""
    loss = {"loss": "eager-one-sequence"} if b == 1 else {}
    return model(name, **{**options, **loss}).peak(b=b, T=T, recipe="adam-bf16")


def compared(peak: Peak, measured: int) -> list[str]:
    """The derived peak part by part, its sum, the measured one, and what is between them."""
    sizes = {name: peak.bill.size(size) for name, size in peak.event.categories.items()}
    between = measured - peak.bytes
    rows = {**sizes, "derived": peak.bytes, "measured": measured, "measured - derived": between}
    lines = [f"  at {peak.event.name}"]
    lines += [f"  {name:24} {size:18,} B  {units.gb(abs(size)):>10}" for name, size in rows.items()]
    return [*lines, f"  {'of the measured':24} {100 * between / measured:+18.3f} %"]


def measure(cls: str, shape: dict[str, int], b: int, T: int) -> int:
    """Bytes at the peak of the last of a few steps on the GPU."""
    import torch
    import transformers

    from membill_specs.torch_reference.models import MODELS

    spec = next(each for each in MODELS if each.name == cls)
    config = spec.configuration({**shape, "b": b, "T": T})
    with torch.device("cuda"):
        module = getattr(transformers, cls)._from_config(config, dtype=torch.bfloat16).train()
        ids = torch.randint(shape["V"], (b, T))
    rule = torch.optim.AdamW(module.parameters())
    for step in range(STEPS):
        if step == STEPS - 1:
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()
        output = module(ids, labels=ids, use_cache=False)
        output.loss.backward()
        rule.step()
        rule.zero_grad(set_to_none=True)
        del output
    torch.cuda.synchronize()
    return int(torch.cuda.max_memory_allocated())


def gpu() -> str:
    """The name of the GPU; exits with a message if there is none."""
    try:
        import torch
    except ImportError:
        sys.exit("PyTorch is not installed: pip install --editable '.[audit]'")
    if not torch.cuda.is_available():
        sys.exit("no CUDA GPU: torch.cuda.is_available() is False, and nothing can be measured")
    return str(torch.cuda.get_device_name())


def main(arguments: list[str]) -> None:
    device = gpu()
    import torch
    import transformers

    from membill.audit import references

    given = [tuple(arguments[at : at + 4]) for at in range(0, len(arguments), 4)]
    versions = {
        "PyTorch": torch.__version__,
        "CUDA": torch.version.cuda,
        "transformers": transformers.__version__,
    }
    print(f"{device}; Python {platform.python_version()};", end=" ")
    print(*(f"{name} {version}" for name, version in versions.items()), sep=", ", end="; ")
    print(datetime.date.today())
    for cls, name, b, T in given or CASES:
        print(f"{cls} {name} b={b} T={T}")
        peak = derived(dict(references.models()[cls].usual), str(name), int(b), int(T))
        shape = peak.bill.model.shape
        size = measure(str(cls), dict(shape or {}), int(b), int(T))
        print(*compared(peak, size), sep="\n")
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main(sys.argv[1:])
