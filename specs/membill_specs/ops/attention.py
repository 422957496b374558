"""What attention is made of, and the kernel that does it in one."""

from membill.spec import FLOAT32, UINT64, Declared, Role, Tensor, needs, op, promoted


@op(source="PyTorch derivatives.yaml: bmm")
def attention_scores(q: Tensor, k: Tensor) -> Declared:
    """s = q kᵀ / √d_k for every head: (b, h, T, T) from (b, T, h, d_k)."""
    batch, tokens = q.leading
    s = q.like(shape=(batch, q.features[0], tokens, k.leading[-1]))  # and its gradient over √d_k
    flops = 2 * s.entries * q.features[1]
    return (
        s,
        {
            q: needs(k, tex=r"\bar Q = \bar S K / \sqrt{d_k}", flops=flops, scratch=[s]),
            k: needs(q, tex=r"\bar K = \bar S^\top Q / \sqrt{d_k}", flops=flops, scratch=[s]),
        },
        flops,
    )


@op(source="PyTorch derivatives.yaml: bmm")
def attention_context(p: Tensor, v: Tensor) -> Declared:
    """o = p v for every head: (b, T, h, d_k) from (b, h, T, T) and (b, T, h, d_k)."""
    o = v.like()
    flops = 2 * p.entries * v.features[1]
    return (
        o,
        {
            p: needs(v, tex=r"\bar P = \bar O V^\top", flops=flops),
            v: needs(p, tex=r"\bar V = P^\top \bar O", flops=flops),
        },
        flops,
    )


@op(source="Dao et al. 2022, FlashAttention, algorithm 4")
def flash_attention(q: Tensor, k: Tensor, v: Tensor) -> Declared:
    """Attention without a stored score matrix: it is computed again from the log-sum-exp.

    A head's values may be narrower than its keys, as FlashAttention-3 and cuDNN take them.
    Dropout inside the kernel keeps no mask: its random numbers are drawn again, from a state of
    the generator that is kept with or without dropout. All three gradients come from one kernel.
    """
    o = q.like(shape=(*q.shape[:-1], v.shape[-1]))
    lse = q.like("logsumexp", shape=(*q.leading, q.features[0]), dtype=FLOAT32)
    state = q.like("rng_state", shape=(2,), dtype=UINT64, role=Role.BOOKKEEPING)
    offset = q.like("rng_offset", shape=(), dtype=UINT64, role=Role.BOOKKEEPING)
    kept = (q, k, v, o, lse, state, offset)
    by_keys, by_values = 2 * q.entries * k.leading[-1], 2 * o.entries * k.leading[-1]
    scores = r"P = \exp(Q K^\top / \sqrt{d_k} - \ell)"
    inner = r"\bar S = P \odot (\bar O V^\top - \langle \bar O, O \rangle)"
    # Backward does five products: P again and dV, dP and dQ, dK.
    gradients = {
        q: needs(
            *kept,
            tex=rf"\bar Q = \bar S K / \sqrt{{d_k}},\ {inner},\ {scores}",
            flops=by_keys + by_values,
        ),
        k: needs(*kept, tex=rf"\bar K = \bar S^\top Q / \sqrt{{d_k}},\ {inner}", flops=by_keys),
        v: needs(*kept, tex=rf"\bar V = P^\top \bar O,\ {scores}", flops=by_keys + by_values),
    }
    return o, gradients, by_keys + by_values


@op(source="Su et al. 2021, RoFormer; its gradient is the inverse rotation")
def rotary(x: Tensor, cos: Tensor, sin: Tensor) -> Declared:
    """Rotate pairs of a head's entries by the token's position. Keeps nothing of x.

    The tables of cosines and sines are kept, once for all layers. In their dtype, if wider.
    """
    return x.like(dtype=promoted(x.dtype, cos.dtype)), {
        x: needs(cos, sin, tex=r"\bar x = R_{-\theta}\, \bar y", scratch=[x, x], released=[sin])
    }
