"""The letters. Every SymPy symbol that Membill uses is made here, and only here.

`sympy.Symbol("T")` and a positive integer T are different objects that print alike, and a
substitution of one leaves the other standing without a word. So symbols come from `define`,
which keeps one per name, with what it means and how it is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from keyword import iskeyword

import sympy

from membill.errors import InputError


@dataclass(frozen=True)
class SymbolInfo:
    """A letter of the formulas: an integer, positive unless `least` is 0, with a meaning.

    `factor_rank` places it within a product, `term_rank` places the products that hold it within
    a sum. `width`, if set, is the symbol beside which this one is written when both occur: a
    count of heads stands before the width of a head.
    """

    symbol: sympy.Symbol
    latex: str
    meaning: str
    factor_rank: int
    term_rank: int
    width: sympy.Symbol | None = None
    elsewhere: str = ""
    least: int = 1

    @property
    def name(self) -> str:
        """The letter as it is typed."""
        return str(self.symbol.name)


_registry: dict[str, SymbolInfo] = {}


def define(
    name: str,
    meaning: str,
    *,
    latex: str = "",
    factor_rank: int = 80,
    term_rank: int = 80,
    width: sympy.Symbol | None = None,
    elsewhere: str = "",
    least: int = 1,
) -> sympy.Symbol:
    """Make the symbol `name`, or return the one that exists if it was defined the same way.

    Ranks run from 0 (first) to 99 (last); the built-in letters have theirs below. `elsewhere`
    says which letter other papers use. `least` is the smallest value, 0 or 1. Raises InputError if
    `name` is not an identifier or already stands for something else.
    """
    if not name.isidentifier() or iskeyword(name):
        raise InputError(f"symbol {name!r}: a symbol's name is a Python identifier")
    sign = {"positive": True} if least else {"nonnegative": True}
    symbol = sympy.Symbol(name, integer=True, **sign)
    info = SymbolInfo(
        symbol,
        latex or _default_latex(name),
        meaning,
        factor_rank,
        term_rank,
        width,
        elsewhere,
        least,
    )
    known = _registry.setdefault(name, info)
    if known != info:
        raise InputError(f"symbol {name!r} already means {known.meaning!r}, not {meaning!r}")
    return symbol


def _default_latex(name: str) -> str:
    head, _, tail = name.partition("_")
    if not tail:
        return head if len(head) == 1 else rf"\mathit{{{head}}}"
    return f"{head}_{tail}" if len(tail) == 1 else rf"{head}_{{\mathrm{{{tail}}}}}"


def info(symbol: sympy.Basic) -> SymbolInfo:
    """What is known of `symbol`; InputError if it was not made by `define`."""
    known = _registry.get(symbol.name if isinstance(symbol, sympy.Symbol) else str(symbol))
    if known is None:
        raise InputError(f"{symbol} is not a symbol of Membill's: make it with symbols.define")
    if known.symbol != symbol:
        raise InputError(
            f"this {symbol} was made by sympy.Symbol and differs from membill.symbols.{symbol}, "
            "a positive integer: import it from membill.symbols"
        )
    return known


def named(name: str) -> SymbolInfo:
    """What is known of the symbol of that name, which must exist."""
    return _registry[name]


def is_defined(name: str) -> bool:
    """Whether a symbol of that name exists."""
    return name in _registry


def names() -> tuple[str, ...]:
    """The names of all symbols, in the order of their definition."""
    return tuple(_registry)


def table() -> tuple[SymbolInfo, ...]:
    """Every symbol with its meaning, in the order of definition."""
    return tuple(_registry.values())


b = define("b", "sequences in a micro-batch", factor_rank=12, term_rank=61)
T = define(
    "T", "tokens in a sequence (context length)", factor_rank=11, term_rank=60, elsewhere="s, n"
)
d = define(
    "d", "width of the model (hidden size)", factor_rank=20, term_rank=10, elsewhere="h, d_model"
)
d_k = define("d_k", "width of one attention head", factor_rank=22, term_rank=11, elsewhere="d_head")
h = define(
    "h",
    "attention (query) heads",
    factor_rank=10,
    term_rank=12,
    width=d_k,
    elsewhere="a, n_heads",
)
n_kv = define(
    "n_kv",
    "key-value heads (equal to h without grouped-query attention)",
    factor_rank=15,
    term_rank=13,
    width=d_k,
    elsewhere="g, n_kv_heads",
)
d_ff = define(
    "d_ff", "width of the feed-forward layer", factor_rank=24, term_rank=14, elsewhere="f, 4h"
)
d_e = define(
    "d_e",
    "width of one expert's feed-forward layer",
    factor_rank=25,
    term_rank=14,
    elsewhere="d_ff, moe_intermediate_size",
)
d_s = define(
    "d_s",
    "width of the feed-forward layer of all shared experts, which every token visits",
    factor_rank=25,
    term_rank=14,
    elsewhere="n_shared_experts * moe_intermediate_size",
)
d_q = define(
    "d_q",
    "width of the latent from which queries are made",
    factor_rank=21,
    term_rank=11,
    elsewhere="q_lora_rank",
)
d_c = define(
    "d_c",
    "width of the latent from which keys and values are made",
    factor_rank=21,
    term_rank=11,
    elsewhere="kv_lora_rank",
)
d_n = define(
    "d_n",
    "width of that part of a head's queries and keys which has no position",
    factor_rank=22,
    term_rank=11,
    elsewhere="qk_nope_head_dim",
)
d_r = define(
    "d_r",
    "width of that part of a head's queries and keys which is rotated",
    factor_rank=22,
    term_rank=11,
    elsewhere="qk_rope_head_dim",
)
d_v = define(
    "d_v",
    "width of a head's values, where it differs from that of its keys",
    factor_rank=22,
    term_rank=11,
    elsewhere="v_head_dim",
)
V = define("V", "entries of the vocabulary", factor_rank=26, term_rank=16, elsewhere="v")
P = define(
    "P",
    "positions that a table of position embeddings has",
    factor_rank=27,
    term_rank=17,
    elsewhere="n_ctx, max_position_embeddings",
)
d_p = define(
    "d_p",
    "numbers in a patch of an image (height times width times channels)",
    factor_rank=25,
    term_rank=15,
)
d_i = define(
    "d_i", "pixels along a side of an image", factor_rank=25, term_rank=15, elsewhere="image_size"
)
d_x = define(
    "d_x", "pixels along a side of a patch", factor_rank=25, term_rank=15, elsewhere="patch_size"
)
n_i = define("n_i", "channels of an image", factor_rank=25, term_rank=15, elsewhere="num_channels")
C = define("C", "classes that a classifier tells apart", factor_rank=26, term_rank=17)
w = define(
    "w",
    "tokens that a sliding window holds",
    factor_rank=11,
    term_rank=60,
    elsewhere="sliding_window",
)
S = define("S", "tokens of the source that an encoder reads", factor_rank=11, term_rank=60)
L = define("L", "layers", factor_rank=4, term_rank=50, elsewhere="l, n_layers")
L_d = define(
    "L_d",
    "layers without experts that come before those with experts",
    factor_rank=4,
    term_rank=50,
    elsewhere="first_k_dense_replace",
)
L_f = define(
    "L_f",
    "layers without a window that come before those with one",
    factor_rank=4,
    term_rank=50,
    elsewhere="max_window_layers",
    least=0,
)
N = define("N", "parameters of the model", factor_rank=5, term_rank=5, elsewhere=r"Psi")
E = define("E", "experts of a mixture-of-experts layer", factor_rank=6, term_rank=40)
k = define("k", "experts that each token visits", factor_rank=7, term_rank=41, elsewhere="top_k")
s = define("s", "layers in a segment that is recomputed at once", factor_rank=4, term_rank=51)
r = define("r", "rank of a low-rank adapter", factor_rank=23, term_rank=15)
n_r = define("n_r", "rows of a weight matrix", factor_rank=28, term_rank=18)
n_c = define("n_c", "columns of a weight matrix", factor_rank=28, term_rank=19)
t = define("t", "tensor-parallel degree", factor_rank=90, term_rank=90, elsewhere="tp")
c = define("c", "context-parallel degree", factor_rank=91, term_rank=91, elsewhere="cp")
e = define("e", "expert-parallel degree", factor_rank=92, term_rank=92, elsewhere="ep")
t_e = define(
    "t_e", "tensor-parallel degree of the experts", factor_rank=92, term_rank=92, elsewhere="etp"
)
p = define("p", "pipeline-parallel degree", factor_rank=93, term_rank=93, elsewhere="pp")
N_d = define("N_d", "data-parallel degree", factor_rank=94, term_rank=94, elsewhere="n, dp")
M = define("M", "bytes of memory of one device", factor_rank=3, term_rank=52)
i = define("i", "pipeline stage, counted from 0", factor_rank=9, term_rank=63, least=0)
v = define("v", "model chunks on each pipeline stage", factor_rank=9, term_rank=64)
m = define("m", "micro-batches in a step", factor_rank=8, term_rank=62)
beta = define(
    "beta",
    "bytes of an entry in the compute dtype (2 for bfloat16 and float16, 4 for float32)",
    latex=r"\beta",
    factor_rank=1,
    term_rank=95,
)
