"""Hugging Face's layers, built from their configurations alone: no weights, no network.

A factory takes dimensions by symbol name and the options of the layer's spec, and returns the
module, its inputs, and the tables that all layers share, as the audit wants them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from membill.audit.requirements import required
from membill.layers import Layer

RATE = 0.1
"""Any dropout rate above 0 keeps the same."""

USUAL = {
    "hidden_size": "d",
    "num_attention_heads": "h",
    "intermediate_size": "d_ff",
}
EAGER = {"flash": "sdpa", "eager": "eager"}
EAGER_FLOAT32 = {"flash": "sdpa", "eager-float32": "eager"}


@dataclass(frozen=True)
class Family:
    """One class of Hugging Face's and the spec that describes it.

    shape, tokens: the real model, and the length of its sequences, at which to audit it.
    model: name of the folder in transformers.models. names: fields of its configuration by the
    symbol that they are (a count of heads is `h`); made: those that are made of several, or of
    options of the spec; fixed: those with a value of their own; by_attention: those that go with
    one alternative of the spec's `attention`. rates: dropout rates. implementations: what to ask
    of Hugging Face for each alternative. options: of the spec, where they are not its defaults;
    free: those that the class has, too. rotary: the class of rotary positions; rotary_call: what
    to call it with besides the usual. call: keyword arguments of the layer besides the usual ones.
    masked: whether the model hands a causal mask to eager attention. told_of_shared_heads:
    alternatives for which SDPA is told that heads are shared, which the class does not do. label:
    what tells the family from another of the same class.
    """

    layer: str
    shape: str
    tokens: int
    model: str
    block: str
    config: str
    names: Mapping[str, str]
    implementations: Mapping[str, str]
    rates: tuple[str, ...] = ("attention_dropout",)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    by_attention: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    rotary: str = ""
    call: Mapping[str, Any] = field(default_factory=dict)
    masked: bool = True
    told_of_shared_heads: tuple[str, ...] = ()
    free: tuple[str, ...] = ()
    rotary_call: tuple[Any, ...] = ()
    made: Callable[[Mapping[str, int]], Mapping[str, Any]] = lambda dims: {}
    label: str = ""

    @property
    def name(self) -> str:
        """The class, with the label if there is one."""
        return ", ".join(filter(None, (self.block, self.label)))

    def build(
        self, dims: Mapping[str, int], attention: str, dropout: bool
    ) -> tuple[nn.Module, tuple[torch.Tensor], tuple[torch.Tensor, ...]]:
        """The layer in training mode, its input, and the tables of rotary positions."""
        modeling = required(f"transformers.models.{self.model}.modeling_{self.model}")
        config = self.configuration(dims, attention, dropout)
        cls = getattr(modeling, self.block)
        layer = cls(config) if self.layer == "vit" else cls(config, layer_idx=0)
        x = torch.randn(dims["b"], dims["T"], dims["d"], requires_grad=True)
        call: dict[str, Any] = dict(self.call)
        tables: tuple[torch.Tensor, ...] = ()
        if self.rotary:
            positions = torch.arange(dims["T"])[None]
            with torch.no_grad():
                tables = getattr(modeling, self.rotary)(config)(x, positions, *self.rotary_call)
            call["position_embeddings"] = tables
        if self.masked:
            eager = config._attn_implementation == "eager"
            mask = torch.zeros(1, 1, dims["T"], dims["T"]) if eager else None
            call["attention_mask"] = mask
        mode = SharedHeads if attention in self.told_of_shared_heads else nullcontext
        return Called(layer.train(), call, mode), (x,), tables

    def covers(self, layer: Layer) -> bool:
        """Whether the class can be asked for this variant of the layer."""
        chosen = {name: layer.chosen[name] for name in ("attention", "dropout", *self.free)}
        usual = {option.name: option.default for option in layer.options}
        in_class = {**usual, **self.options, **chosen}
        return chosen["attention"] in self.implementations and layer.chosen == in_class

    def factory(self, attention: str, dropout: bool, **dims: Any) -> Any:
        """`build`, as the audit calls it; the spec's other options are as `covers` wants them."""
        return self.build(dims, attention, dropout)

    def configuration(self, dims: Mapping[str, int], attention: str, dropout: bool) -> Any:
        """The configuration of a model of these dimensions."""
        sizes = {name: dims[symbol] for name, symbol in self.names.items()}
        rates = dict.fromkeys(self.rates, RATE if dropout else 0.0)
        own = self.by_attention.get(attention, {})
        config = getattr(required("transformers"), self.config)(
            **sizes, **rates, **self.made(dims), **{**self.fixed, **own}
        )
        config._attn_implementation = self.implementations[attention]
        return config


class Called(nn.Module):
    """A layer with its keyword arguments, run within a context made anew for each call."""

    def __init__(
        self,
        layer: nn.Module,
        keywords: Mapping[str, Any],
        context: Callable[[], AbstractContextManager[Any]],
    ) -> None:
        super().__init__()
        self.layer = layer
        self.keywords = keywords
        self.context = context

    def forward(self, x: torch.Tensor) -> Any:
        """(b, T, d) to what the layer gives."""
        with self.context():
            return self.layer(x, **self.keywords)


class SharedHeads(TorchFunctionMode):
    """Tells SDPA that query heads may share a key-value head, so that a fused kernel takes it."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        keywords = dict(kwargs or {})
        if func is F.scaled_dot_product_attention:
            keywords["enable_gqa"] = True
        return func(*args, **keywords)
