"""Multi-head latent attention: keys and values of all heads from one narrow latent a token."""

from collections.abc import Callable

from membill.spec import Tensor
from membill.symbols import d_c, d_n, d_q, d_r, d_v, h
from membill_specs.blocks.attention import flash, identity
from membill_specs.blocks.norm import hugging_face_rms_norm
from membill_specs.blocks.projection import rotated
from membill_specs.ops import concatenate, copy, linear, part


def latent_attention(
    x: Tensor,
    *,
    attention: Callable[..., Tensor] = flash,
    norm: Callable[..., Tensor] = hugging_face_rms_norm,
    drop: Callable[[Tensor], Tensor] = identity,
) -> Tensor:
    """Down to latents, a norm on each, up to heads, attention, and the output projection.

    Positions are in a part of their own: one rotated key, made beside the latent, is copied to
    the keys of all heads. Queries and keys are concatenated, which lays them out heads first, and
    the kernel's output with them: the output projection reads a copy.
    """
    compressed = norm(linear(x, d_q, name="q_down"), name="q_norm")
    q = linear(compressed, h, d_n + d_r, name="q_up")
    down = linear(x, d_c + d_r, name="kv_down")
    latent = norm(part(down, d_c, name="latent"), name="kv_norm")
    q_r, k_r = part(q, h, d_r, name="q_position"), part(down, 1, d_r, name="k_position")
    q_r, k_r = rotated(q_r, k_r, d_r)
    kv = linear(latent, h, d_n + d_v, name="kv_up")
    q = concatenate(part(q, h, d_n, name="q_part"), q_r, name="q")
    k = concatenate(part(kv, h, d_n, name="k_part"), k_r, name="k")
    v = part(kv, h, d_v, name="v_part")
    y = copy(attention(q, k, v, drop), name="tokens_first")
    return linear(y, *x.features, name="out")
