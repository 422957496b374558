"""Kinds of cache: what a layer keeps of the tokens that it has seen."""

from membill.spec import Cache, register
from membill.symbols import S, T, b, d_c, d_k, d_n, d_r, d_v, h, n_kv, w

GROUPED = {"k": (b, T, n_kv, d_k), "v": (b, T, n_kv, d_k)}

register(
    Cache(
        "multi-head",
        "Multi-head",
        "Keys and values of every head.",
        "Vaswani et al. 2017; Pope et al. 2022, section 3.3",
        {"k": (b, T, h, d_k), "v": (b, T, h, d_k)},
    ),
    Cache(
        "grouped-query",
        "Grouped-query",
        "Keys and values of each group of heads; as multi-head where every head is a group.",
        "Ainslie et al. 2023, GQA",
        GROUPED,
        usual=True,
    ),
    Cache(
        "multi-query",
        "Multi-query",
        "One head's keys and values, which all heads share.",
        "Shazeer 2019, Fast Transformer Decoding",
        {"k": (b, T, d_k), "v": (b, T, d_k)},
    ),
    Cache(
        "latent",
        "Latent (MLA)",
        "The latent that keys and values are made from again, and the key that carries positions.",
        "DeepSeek-AI 2024, DeepSeek-V2, section 2.1",
        {"latent": (b, T, d_c), "k_positions": (b, T, d_r)},
    ),
    Cache(
        "latent-expanded",
        "Latent, expanded",
        "Keys and values of every head, as made from the latent, where a program keeps these.",
        "transformers 4, DeepseekV3Attention",
        {"k": (b, T, h, d_n + d_r), "v": (b, T, h, d_v)},
    ),
    Cache(
        "sliding-window",
        "Sliding window",
        "Grouped keys and values of the last tokens; the next one takes the oldest one's place."
        " transformers 5.24 keeps one fewer between steps.",
        "Jiang et al. 2023, Mistral 7B, section 2: rolling buffer cache",
        GROUPED,
        window=w,
    ),
    Cache(
        "sliding-window-in-full",
        "Sliding window, in full",
        "Layers with a window for which every token is kept, as those without one need.",
        "vLLM, hybrid KV cache manager: what it does where it is off",
        GROUPED,
    ),
    Cache(
        "cross-attention",
        "Cross-attention",
        "Keys and values of the source: made once, and no more for each token.",
        "Vaswani et al. 2017, section 3.2.3",
        {"k": (b, S, n_kv, d_k), "v": (b, S, n_kv, d_k)},
    ),
    Cache(
        "none",
        "None",
        "Nothing: an encoder sees all tokens at once.",
        "Devlin et al. 2019, BERT",
        {},
    ),
)
