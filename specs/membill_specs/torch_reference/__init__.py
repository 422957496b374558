"""The judge: the same ops and layers in plain PyTorch, against which the specs are audited.

Imported by the audit alone; nothing else here needs PyTorch.
"""

from membill_specs.torch_reference import (
    adapters,
    experts,
    families,
    gpt,
    kernels,
    llama,
    losses,
    mixtral,
    models,
    ops,
    patches,
    precisions,
    sizes,
)

__all__ = [
    "adapters",
    "experts",
    "families",
    "gpt",
    "kernels",
    "llama",
    "losses",
    "mixtral",
    "models",
    "ops",
    "patches",
    "precisions",
    "sizes",
]
