"""The judge: the same ops and layers in plain PyTorch, against which the specs are audited.

Imported by the audit alone; nothing else here needs PyTorch.
"""

from membill_specs.torch_reference import families, gpt, kernels, llama, ops, sizes

__all__ = ["families", "gpt", "kernels", "llama", "ops", "sizes"]
