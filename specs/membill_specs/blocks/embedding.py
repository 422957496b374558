"""What makes the first layer's input from the batch."""

from sympy import Expr

from membill.spec import FLOAT32, INT64, Tensor, buffer, data, held, index, scope
from membill.symbols import P, T, V, b, d, d_k, d_p
from membill_specs.blocks.attention import identity
from membill_specs.ops import (
    add,
    add_rows,
    affine,
    embedding,
    layer_norm,
    patch_embedding,
    prepend_row,
)
from membill_specs.ops import dropout as dropout_op


def tokens() -> Tensor:
    """The embedding of each token."""
    return embedding(held(index("ids", b, T)), V, d, name="tokens")


def frequencies(width: Expr = d_k) -> None:
    """The frequencies of rotary positions over `width` entries of a head, which a model holds.

    As transformers 5.24's rotary embeddings, which keep those that they began with as well.
    """
    with scope("rotary"):
        buffer("inv_freq", width / 2, dtype=FLOAT32)
        buffer("original_inv_freq", width / 2, dtype=FLOAT32)


def rotary_tokens() -> Tensor:
    """The embedding of each token; the layers rotate heads by position."""
    frequencies()
    return tokens()


def scaled_tokens() -> Tensor:
    """The embedding of each token times a number; the layers rotate heads by position.

    As transformers 5.24's Gemma2TextScaledWordEmbedding, which holds that number.
    """
    frequencies()
    buffer("embed_scale", dtype=FLOAT32)
    return affine(tokens(), name="scaled")


def partly_rotary_tokens(*, dropout: bool = False) -> Tensor:
    """The embedding of each token, then dropout; a quarter of each head is rotated by position."""
    frequencies(d_k / 4)
    return (dropout_op if dropout else identity)(tokens())


def tokens_and_positions(*, dropout: bool = True) -> Tensor:
    """The embeddings of each token and of each position, added; then dropout."""
    x = tokens()
    positions = embedding(index("positions", 1, T), P, d, name="positions")
    return (dropout_op if dropout else identity)(add(x, positions))


def tokens_and_padded_positions() -> Tensor:
    """The embeddings of each token and of its position in its sequence, added.

    As transformers 5.24's OPTLearnedPositionalEmbedding: two rows of the table stand for padding,
    and positions are counted in each sequence by itself.
    """
    return add(tokens(), embedding(index("positions", b, T), P + 2, d, name="positions"))


def tokens_segments_and_positions(*, dropout: bool = True) -> Tensor:
    """The embeddings of each token, of its segment of two and of its position; norm, dropout.

    As transformers 5.24's BertEmbeddings, which holds all positions and a row of segments.
    """
    positions = buffer("position_ids", 1, P, dtype=INT64)
    buffer("token_type_ids", 1, P, dtype=INT64)
    x = add(tokens(), embedding(held(index("segments", b, T)), 2, d, name="segments"))
    x = add(x, embedding(positions.view(1, T, leading_axes=2), P, d, name="positions"))
    return (dropout_op if dropout else identity)(layer_norm(x, name="embedding_norm"))


def patches(*, dropout: bool = False) -> Tensor:
    """A product with each patch of an image, a class token before them, positions, dropout.

    T counts the class token and the patches, which are d_p numbers each.
    """
    x = patch_embedding(held(data("image", b, T - 1, d_p)), d, name="patches")
    x = add_rows(prepend_row(x, name="class_token"), P, name="positions")
    return (dropout_op if dropout else identity)(x)
