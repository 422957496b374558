"""Parallelism: mesh axes, what each divides, and the partitioning of model states."""

from membill.spec import Axis, Partition, Rule, register, register_rules
from membill.symbols import E, T, V, b, c, d_e, d_ff, d_s, e, h, n_kv, t, t_e

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
    Axis(
        "ep",
        e,
        "Expert parallelism: whole experts are divided. Tokens go to where their experts are and"
        " come back, so that a device handles as many as before: k for each of its own.",
        "Lepikhin et al. 2020, GShard",
        data=True,
    )
)
register(
    Axis(
        "etp",
        t_e,
        "Expert tensor parallelism: the width of each expert is divided. Its devices gather their"
        " tokens, so that each holds a part as wide as 1/t_e of t_e times as many.",
        "Liu et al. 2025, MoE Parallel Folding with Megatron Core",
        data=True,
    )
)

# The order decides: what has heads is divided by heads, and only the rest by tokens. Only the
# weights of experts have both axes, E and d_e: a router's, and what tokens hold, stay as they are.
# Tables of positions, which have no b, are read with all tokens of some heads, so they stay whole.
register_rules(
    Rule(h, "tp"),
    Rule(n_kv, "tp", replicate=True),
    Rule(d_ff, "tp"),
    Rule(d_s, "tp"),
    Rule(V, "tp"),
    Rule(E, "ep", beside=d_e),
    Rule(d_e, "etp", beside=E),
    Rule(T, "tp", switch="sp", beside=b, title="Sequence parallelism"),
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
