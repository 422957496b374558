"""Losses."""

from sympy import Expr

from membill.spec import FLOAT32, Declared, Role, Tensor, dims, needs, op, product, weight


@op(source="PyTorch derivatives.yaml: _log_softmax, nll_loss_forward")
def cross_entropy(logits: Tensor, labels: Tensor) -> Declared:
    """The mean over tokens of -log softmax(logits) at the label.

    Keeps the logarithms of all probabilities, in the shape and dtype of the logits, and how many
    tokens the mean is over: one number of that dtype. In backward, labels become a gradient of
    these logarithms first.
    """
    log_p = logits.like("log_softmax")
    count = logits.like("count", shape=(), role=Role.BOOKKEEPING)
    loss = logits.like(shape=())
    return loss, {
        logits: needs(
            log_p,
            labels,
            count,
            tex=r"\bar z = \tfrac{1}{n} (e^{\ell} - \mathbb 1_{\text{label}})",
            scratch=[log_p],
            released=[labels, count],
        )
    }


@op(source="Liger Kernel: LigerFusedLinearCrossEntropyFunction")
def fused_linear_cross_entropy(
    x: Tensor, labels: Tensor, entries: object, *, bias: bool = False
) -> Declared:
    """The cross-entropy of x W (+ bias); forward computes the gradients and keeps only them.

    All three products are in forward; backward scales what is kept. The gradient of x is kept
    whichever is asked for.
    """
    w, flops = _head(x, entries)
    own, kept = x.like("x_gradient"), _gradient(w)
    gradients = {
        x: needs(own, tex=r"\bar X = (P - Y) W^\top \bar\ell", released=[own]),
        w: needs(own, kept, tex=r"\bar W = X^\top (P - Y) \bar\ell", released=[kept]),
    }
    if bias:
        shift = weight("bias", entries, dtype=x.dtype)
        kept = _gradient(shift)
        tex = r"\bar b = \sum (P - Y) \bar\ell"
        gradients[shift] = needs(own, kept, tex=tex, released=[kept])
    return x.like(shape=()), gradients, 3 * flops


@op(source="Wijmans et al. 2024, Cut Your Losses in Large-Vocabulary Language Models")
def cut_cross_entropy(
    x: Tensor, labels: Tensor, entries: object, *, bias: bool = False
) -> Declared:
    """The cross-entropy of x W (+ bias); backward computes the logits again, block by block.

    Keeps x, the labels, and in float32 the logarithm of each token's sum of exponentials and, to
    find the blocks that matter, the mean of each entry's logits.
    """
    w, flops = _head(x, entries)
    lse = x.like("log_sum_exp", shape=x.leading, dtype=FLOAT32)
    mean = x.like("logit_mean", shape=(entries,), dtype=FLOAT32, role=Role.BOOKKEEPING)
    kept = (x, w, labels, lse, mean)
    again = 2 * flops  # the logits first, then the gradient
    gradients = {
        x: needs(*kept, tex=r"\bar X = (e^{XW - \lambda} - Y) W^\top \bar\ell", flops=again),
        w: needs(*kept, tex=r"\bar W = X^\top (e^{XW - \lambda} - Y) \bar\ell", flops=flops),
    }
    if bias:
        tex = r"\bar b = \sum (e^{XW - \lambda} - Y) \bar\ell"
        gradients[weight("bias", entries, dtype=x.dtype)] = needs(*kept, tex=tex)
    return x.like(shape=()), gradients, flops


def _head(x: Tensor, entries: object) -> tuple[Tensor, Expr]:
    """The weight of the logits, and the FLOPs of one product with it."""
    rows = len(x.features)
    w = weight("weight", *x.features, entries, dtype=x.dtype, inputs=rows)
    return w, 2 * x.entries * product(dims((entries,)))


def _gradient(w: Tensor) -> Tensor:
    return w.like(f"{w.name}_gradient", role=Role.ACTIVATION)
