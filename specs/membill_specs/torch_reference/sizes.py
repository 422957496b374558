"""Small dimensions that a CPU runs in an instant."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from membill.audit.references import draws_sizes


@draws_sizes
def small(random: Random) -> Mapping[str, int]:
    """Two sequences and two heads of each kind at least: their order in memory matters then, and
    a lone one is not copied where others are.

    A head is a multiple of 8 wide: a flash kernel pads others. So is an expert: a product by
    groups takes rows that are multiples of 16 bytes.
    """
    d_k, n_kv = random.choice((8, 16, 24)), random.randint(2, 3)
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
        "P": 16,
        "d_p": 12,
        "C": 5,
        "E": experts,
        "k": random.randint(2, experts - 1),
        "d_e": (d_e := random.choice((16, 24, 40))),
        "d_s": d_e * random.randint(1, 3),
        "d_q": random.randint(20, 60),
        "d_c": random.randint(20, 60),
        "d_n": random.choice((16, 24)),
        "d_r": random.choice((8, d_k)),
        "d_v": random.choice((8, 16)),
        "r": random.randint(2, 6),
    }
