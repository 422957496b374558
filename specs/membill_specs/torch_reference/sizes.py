"""Small dimensions that a CPU runs in an instant."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from membill.audit.references import draws_sizes


@draws_sizes
def small(random: Random) -> Mapping[str, int]:
    """Two sequences and two heads at least, so that their order in memory matters.

    A head is a multiple of 8 wide: a flash kernel pads others. So is an expert: a product by
    groups takes rows that are multiples of 16 bytes.
    """
    d_k, n_kv = random.choice((8, 16, 24)), random.randint(1, 3)
    h = n_kv * random.randint(2, 3)
    experts = random.randint(3, 6)
    return {
        "b": random.randint(2, 3),
        "T": random.randint(3, 11),
        "d": h * d_k,
        "h": h,
        "n_kv": n_kv,
        "d_k": d_k,
        "d_ff": random.randint(20, 60),
        "V": random.randint(50, 90),
        "E": experts,
        "k": random.randint(2, experts - 1),
        "d_e": random.choice((16, 24, 40)),
        "r": random.randint(2, 6),
    }
