"""Stacks: whole models from token ids to the loss, as functions over symbolic tensors.

Each takes how many layers to stack, runs the layer's function that often, and returns the loss.
"""

from membill_specs.stacks.gpt2 import gpt2_model
from membill_specs.stacks.llama import llama_model

__all__ = ["gpt2_model", "llama_model"]
