"""BERT."""

from collections.abc import Callable

from membill.spec import Slot, Tensor, architecture, choice, held, index, repeat
from membill.symbols import C, L, b, d
from membill_specs.blocks import identity
from membill_specs.blocks.embedding import tokens_segments_and_positions
from membill_specs.blocks.loss import LOGITS, compute_loss
from membill_specs.ops import cross_entropy, first_token, gelu, layer_norm, linear, tanh
from membill_specs.ops import dropout as dropout_op

Loss = Callable[..., Tensor]
Unary = Callable[[Tensor], Tensor]


@choice("bert_head", "pooler")
def pooler(x: Tensor, loss: Loss, drop: Unary) -> Tensor:
    """A product with the first token, then tanh, and no loss: transformers 5.24's BertModel."""
    return tanh(linear(first_token(x), d, bias=True, name="pooler"))


@choice("bert_head", "classifier")
def classifier(x: Tensor, loss: Loss, drop: Unary) -> Tensor:
    """Pooler, dropout, C classes and the loss: BertForSequenceClassification."""
    classes = held(linear(drop(pooler(x, loss, drop)), C, bias=True, name="classes"))
    return cross_entropy(classes, held(index("labels", b)))


@choice("bert_head", "masked-language-model")
def masked_language_model(x: Tensor, loss: Loss, drop: Unary) -> Tensor:
    """A product with each token, GELU, a norm, logits and the loss: BertForMaskedLM."""
    y = gelu(linear(x, d, bias=True, name="transform"))
    return loss(layer_norm(y, name="final_norm"), bias=True)


def head(
    x: Tensor,
    *,
    head: Callable[..., Tensor] = pooler,
    loss: Loss = compute_loss,
    dropout: bool = True,
) -> Tensor:
    """What is put on the last layer's output; `loss` is for the masked language model."""
    return head(x, loss, dropout_op if dropout else identity)


architecture(
    "bert",
    title="BERT",
    source="Devlin et al. 2019; transformers 5.24, BertModel",
    start=tokens_segments_and_positions,
    layers=[repeat(L, Slot("bert", cache="none"))],
    end=head,
    tied=LOGITS,
)
