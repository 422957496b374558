"""Losses."""

from membill.spec import Declared, Role, Tensor, needs, op


@op(source="PyTorch derivatives.yaml: _log_softmax, nll_loss_forward")
def cross_entropy(logits: Tensor, labels: Tensor) -> Declared:
    """The mean over tokens of -log softmax(logits) at the label.

    Keeps the logarithms of all probabilities, in the shape and dtype of the logits, and how many
    tokens the mean is over: one number of that dtype.
    """
    log_p = logits.like("log_softmax")
    count = logits.like("count", shape=(), role=Role.BOOKKEEPING)
    loss = logits.like(shape=())
    return loss, {
        logits: needs(
            log_p, labels, count, tex=r"\bar z = \tfrac{1}{n} (e^{\ell} - \mathbb 1_{\text{label}})"
        )
    }
