"""A layer whose attention and MLP read the same norm, with a squared ReLU between."""

from membill.spec import Declared, Tensor, layer, needs, op, scope
from membill.symbols import d, d_ff, d_k, h
from membill_specs.blocks import eager_attention, identity
from membill_specs.ops import add, dropout, layer_norm, linear


@op(source="So et al. 2021, Primer")
def squared_relu(x: Tensor) -> Declared:
    """y = max(x, 0)², in one kernel."""
    return x.like(), {x: needs(x, tex=r"\bar x = 2 \max(x, 0) \odot \bar y")}


@layer(
    "parallel",
    title="Parallel layer",
    source="Wang and Komatsuzaki 2021, GPT-J; So et al. 2021, Primer",
    where={d_k: d / h, d_ff: 4 * d},
)
def parallel(x: Tensor, *, attention=eager_attention, dropped: bool = False) -> Tensor:
    """One norm feeds both attention and the MLP, whose outputs are added to the residual."""
    with scope("norm"):
        y = layer_norm(x)
    with scope("attention"):
        q, k, v = (linear(y, h, d_k, name=name) for name in ("q", "k", "v"))
        heads = attention(q, k, v, dropout if dropped else identity)
        x = add(x, linear(heads, d, name="out"), name="residual")
    with scope("mlp"):
        wide = squared_relu(linear(y, d_ff, name="up"))
        return add(x, linear(wide, d, name="down"), name="residual")
