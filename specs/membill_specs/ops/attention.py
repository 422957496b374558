"""What attention is made of, and the kernel that does it in one."""

from membill.spec import FLOAT32, UINT64, Declared, Role, Tensor, needs, op


@op(source="PyTorch derivatives.yaml: bmm")
def attention_scores(q: Tensor, k: Tensor) -> Declared:
    """s = q kᵀ / √d_k for every head: (b, h, T, T) from (b, T, h, d_k)."""
    batch, tokens = q.leading
    s = q.like(shape=(batch, q.features[0], tokens, k.leading[-1]))
    return s, {
        q: needs(k, tex=r"\bar Q = \bar S K / \sqrt{d_k}"),
        k: needs(q, tex=r"\bar K = \bar S^\top Q / \sqrt{d_k}"),
    }


@op(source="PyTorch derivatives.yaml: bmm")
def attention_context(p: Tensor, v: Tensor) -> Declared:
    """o = p v for every head: (b, T, h, d_k) from (b, h, T, T) and (b, T, h, d_k)."""
    o = v.like()
    return o, {
        p: needs(v, tex=r"\bar P = \bar O V^\top"),
        v: needs(p, tex=r"\bar V = P^\top \bar O"),
    }


@op(source="Dao et al. 2022, FlashAttention, algorithm 4")
def flash_attention(q: Tensor, k: Tensor, v: Tensor) -> Declared:
    """Attention without a stored score matrix: it is computed again from the log-sum-exp.

    Dropout inside the kernel keeps no mask: its random numbers are drawn again, from a state of
    the generator that is kept with or without dropout. All three gradients come from one kernel.
    """
    o = q.like()
    lse = q.like("logsumexp", shape=(*q.leading, q.features[0]), dtype=FLOAT32)
    state = q.like("rng_state", shape=(2,), dtype=UINT64, role=Role.BOOKKEEPING)
    offset = q.like("rng_offset", shape=(), dtype=UINT64, role=Role.BOOKKEEPING)
    kept = (q, k, v, o, lse, state, offset)
    scores = r"P = \exp(Q K^\top / \sqrt{d_k} - \ell)"
    inner = r"\bar S = P \odot (\bar O V^\top - \langle \bar O, O \rangle)"
    return o, {
        q: needs(*kept, tex=rf"\bar Q = \bar S K / \sqrt{{d_k}},\ {inner},\ {scores}"),
        k: needs(*kept, tex=rf"\bar K = \bar S^\top Q / \sqrt{{d_k}},\ {inner}"),
        v: needs(*kept, tex=rf"\bar V = P^\top \bar O,\ {scores}"),
    }


@op(source="Su et al. 2021, RoFormer; its gradient is the inverse rotation")
def rotary(x: Tensor, cos: Tensor, sin: Tensor) -> Declared:
    """Rotate pairs of a head's entries by the token's position. Keeps nothing of x.

    The tables of cosines and sines are kept, once for all layers.
    """
    return x.like(), {x: needs(cos, sin, tex=r"\bar x = R_{-\theta}\, \bar y")}
