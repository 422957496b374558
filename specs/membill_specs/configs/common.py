"""What configurations have in common."""

from membill.spec import Setting, at
from membill.symbols import L, V, d, d_ff, d_k, h, n_kv

GROUPED = {
    L: at("num_hidden_layers"),
    d: at("hidden_size"),
    h: at("num_attention_heads"),
    n_kv: at("num_key_value_heads", default=h),
    d_k: at("head_dim", default=d / h),
    d_ff: at("intermediate_size"),
    V: at("vocab_size"),
}
"""Heads that may share keys and values, of a width of their own if it is given."""

MULTI_HEAD = {**GROUPED, n_kv: at(default=h), d_k: at(default=d / h)}
"""Heads that share nothing and divide the width of the model."""

SHARED_EVENLY = ((n_kv, h),)
OF_MULTI_HEAD = {"head_dim": d / h, "num_key_value_heads": h}
FULL, WINDOWED = "full_attention", "sliding_attention"
ALL_FULL = {"layer_types": (((FULL,), L),)}


def tied(absent: bool) -> dict[str, Setting]:
    """Whether the head's weight is the embedding's."""
    return {"tied": Setting("tie_word_embeddings", absent)}
