"""Entry-by-entry arithmetic."""

from membill.spec import Declared, DType, Tensor, needs, op, promoted, weight


@op(source="PyTorch derivatives.yaml: add")
def add(x: Tensor, y: Tensor) -> Declared:
    """z = x + y, in the wider dtype. Its gradient mentions no tensor."""
    z = x.like(dtype=promoted(x.dtype, y.dtype))
    return z, {
        x: needs(tex=r"\bar x = \bar z", passes=_alike(x, z)),
        y: needs(tex=r"\bar y = \bar z", passes=_alike(y, z)),
    }


@op(source="PyTorch derivatives.yaml: mul")
def multiply(x: Tensor, y: Tensor) -> Declared:
    """z = x ⊙ y, in the shape of x and the wider dtype; y may be one number per token."""
    z = x.like(dtype=promoted(x.dtype, y.dtype))
    late = [] if _alike(x, z) else [x]  # cast when both are there, until then twice as wide
    return z, {
        x: needs(y, tex=r"\bar x = \bar z \odot y", scratch=_before(x, z)),
        y: needs(x, tex=r"\bar y = \bar z \odot x", scratch=[*_before(y, z), *late]),
    }


@op(source="PyTorch derivatives.yaml: div")
def divide(x: Tensor, y: Tensor) -> Declared:
    """z = x / y, in the shape of x and the wider dtype; y may be one number per token."""
    z = x.like(dtype=promoted(x.dtype, y.dtype))
    factors = [z, z, z]
    return z, {
        x: needs(y, tex=r"\bar x = \bar z / y", scratch=_before(x, z)),
        y: needs(x, y, tex=r"\bar y = -\bar z \odot x / y^2", scratch=[*factors, *_before(y, z)]),
    }


@op(source="PyTorch derivatives.yaml: mul")
def scale(x: Tensor) -> Declared:
    """y = g ⊙ x with a gain per feature, in the wider dtype."""
    gain = weight("weight", *x.features)
    y = x.like(dtype=promoted(x.dtype, gain.dtype))
    return y, {
        x: needs(gain, tex=r"\bar x = g \odot \bar y", scratch=_before(x, y)),
        gain: needs(x, tex=r"\bar g = \sum \bar y \odot x", scratch=_before(gain, y)),
    }


@op(source="PyTorch derivatives.yaml: mul, add with a number")
def scale_from_one(x: Tensor) -> Declared:
    """y = (1 + g) ⊙ x with a gain per feature, stored as its distance from one.

    1 + g is a tensor of its own, in the dtype of x, and kept; so it is not the weight itself.
    """
    gain = weight("weight", *x.features)
    factor = x.like("gain", shape=x.features)
    return x.like(), {
        x: needs(factor, tex=r"\bar x = (1 + g) \odot \bar y"),
        gain: needs(x, tex=r"\bar g = \sum \bar y \odot x", scratch=[x]),
    }


@op(source="PyTorch derivatives.yaml: pow")
def square(x: Tensor) -> Declared:
    """y = x²."""
    return x.like(), {x: needs(x, tex=r"\bar x = 2 x \odot \bar y", scratch=[x, x])}


@op(source="PyTorch derivatives.yaml: pow")
def cube(x: Tensor) -> Declared:
    """y = x³."""
    return x.like(), {x: needs(x, tex=r"\bar x = 3 x^2 \odot \bar y", scratch=[x, x])}


@op(source="PyTorch derivatives.yaml: mul, add with a number")
def affine(x: Tensor, *, shifts: bool = False) -> Declared:
    """y = a x + c with numbers a and c, of which a is 1 if it only shifts x.

    Its gradient mentions no tensor.
    """
    return x.like(), {x: needs(tex=r"\bar x = a\, \bar y", passes=shifts)}


@op(source="PyTorch derivatives.yaml: rsqrt")
def rsqrt(x: Tensor) -> Declared:
    """y = 1/√x."""
    y = x.like()
    return y, {x: needs(y, tex=r"\bar x = -\tfrac{1}{2}\, y^3 \odot \bar y", scratch=[x, x])}


@op(source="PyTorch derivatives.yaml: _to_copy")
def cast(x: Tensor, dtype: DType) -> Declared:
    """x in another dtype: a new storage. To the dtype that it has already, x itself."""
    y = x.view() if x.dtype == dtype else x.like(dtype=dtype)
    return y, {x: needs(tex=r"\bar x = \bar y", passes=_alike(x, y))}


def _alike(x: Tensor, z: Tensor) -> bool:
    """Whether a gradient of z does for x as it is."""
    return x.shape == z.shape and x.dtype == z.dtype


def _before(x: Tensor, z: Tensor) -> list[Tensor]:
    """What a gradient of x is until it is summed up, or cast, to be like x: one like z."""
    return [] if _alike(x, z) else [z]
