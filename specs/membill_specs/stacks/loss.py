"""What language models end with."""

from membill.spec import FLOAT32, Tensor, index, scope
from membill.symbols import T, V, b
from membill_specs.ops import cast, cross_entropy, linear


def next_token_loss(x: Tensor, *, alone: bool = False) -> Tensor:
    """Logits, their float32 copy, and the loss against the labels moved by one token.

    As Hugging Face's ForCausalLMLoss, which pads the labels by one and copies their tail; with
    one sequence (`alone`) the tail is contiguous as it is, and the padded labels are kept.
    """
    with scope("loss"):
        labels = index("labels", b, T + 1 if alone else T)
        logits = cast(linear(x, V, name="logits"), FLOAT32, name="float32")
        return cross_entropy(logits, labels)
