"""Parallelism: mesh axes, what each divides, and the partitioning of model states."""

from membill.spec import Axis, Partition, Rule, register, register_rules
from membill.symbols import E, T, V, c, d_ff, e, h, n_kv, t

register(
    Axis(
        "tp",
        t,
        "Tensor parallelism: heads, the feed-forward width and the vocabulary are divided.",
        "Shoeybi et al. 2019, Megatron-LM",
    )
)
register(
    Axis(
        "cp",
        c,
        "Context parallelism: the tokens of a sequence are divided, in every op.",
        "Liu et al. 2023, Ring Attention",
    )
)
register(
    Axis("ep", e, "Expert parallelism: the experts are divided.", "Lepikhin et al. 2020, GShard")
)

# The order decides: what has heads is divided by heads, and only the rest by tokens.
register_rules(
    Rule(h, "tp"),
    Rule(n_kv, "tp", replicate=True),
    Rule(d_ff, "tp"),
    Rule(V, "tp"),
    Rule(E, "ep"),
    Rule(T, "tp", switch="sp"),
    Rule(T, "cp"),
)

register(
    Partition(
        "zero",
        {
            0: frozenset(),
            1: frozenset({"master", "moments"}),
            2: frozenset({"master", "moments", "gradients"}),
            3: frozenset({"master", "moments", "gradients", "weights"}),
        },
        "ZeRO: data-parallel devices each hold a part of the states instead of a copy. Stage 3"
        " is what FSDP does.",
        "Rajbhandari et al. 2020",
    )
)
