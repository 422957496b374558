"""Low-rank adapters as the peft library puts them in, and the tuned layers that are audited."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from torch import nn

import membill
from membill.audit.references import adapts, audit_too
from membill.audit.requirements import required
from membill.errors import unknown
from membill.paths import within

RANK = 8
ON = (("q", "v"), ("attention", "mlp"))
"""Where: queries and values, as in the paper, and every linear that there is."""

FROZEN = (("attention",), ("mlp",), ("attention", "mlp"), ("attention", "mlp", "norms"), ("q",))


@adapts("lora")
def lora(module: nn.Module, on: Collection[str], dims: Mapping[str, Any]) -> Any:
    """Adapters in the dtype of the linears that they are on."""
    return adapted(module, on, dims["r"], autocast_adapter_dtype=False)


@adapts("lora-float32")
def lora_float32(module: nn.Module, on: Collection[str], dims: Mapping[str, Any]) -> Any:
    """Adapters in float32."""
    return adapted(module, on, dims["r"], autocast_adapter_dtype=True)


def adapted(module: nn.Module, on: Collection[str], rank: int, **how: bool) -> Any:
    """The module with adapters on those of its linears that lie within `on`, all else frozen."""
    linears = [path for path, part in module.named_modules() if isinstance(part, nn.Linear)]
    chosen = [path for path in linears if within(path, tuple(on))]
    if not chosen:
        raise unknown("linear to adapt", ", ".join(on), linears, f"of {type(module).__name__}")
    peft = required("peft")
    return peft.get_peft_model(module, peft.LoraConfig(r=rank, target_modules=chosen), **how)


for layer in (membill.layer("gpt"), membill.layer("llama")):
    for on in ON:
        audit_too(layer.adapt("lora", on=on), r=RANK)
        audit_too(layer.adapt("lora-float32", on=on), r=RANK)
    for scopes in FROZEN:
        audit_too(layer.freeze(*scopes))
