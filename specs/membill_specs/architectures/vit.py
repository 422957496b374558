"""The Vision Transformer."""

from membill.spec import Slot, Tensor, architecture, held, index, repeat
from membill.symbols import C, L, b
from membill_specs.blocks.embedding import patches
from membill_specs.ops import cross_entropy, first_token, layer_norm, linear


def head(x: Tensor) -> Tensor:
    """The final LayerNorm, C classes from the class token, and the loss."""
    y = first_token(layer_norm(x, name="final_norm"))
    return cross_entropy(held(linear(y, C, bias=True, name="classes")), held(index("labels", b)))


architecture(
    "vit",
    title="Vision Transformer",
    source="Dosovitskiy et al. 2021; transformers 5.24, ViTForImageClassification",
    start=patches,
    layers=[repeat(L, Slot("vit", cache="none"))],
    end=head,
)
