"""Adapters: for fine-tuning, and for products in fewer bits."""

from collections.abc import Callable

from membill.spec import FLOAT8, FLOAT32, Adapter, DType, Tensor, register
from membill.symbols import r
from membill_specs.ops import add, cast, linear

Linear = Callable[..., Tensor]


def _beside(base: Tensor, x: Tensor, dtype: DType, out: tuple[object, ...]) -> Tensor:
    """The frozen product plus a product through a width of r, summed in the wider dtype.

    The factor alpha/r keeps nothing.
    """
    middle = linear(cast(x, dtype, name="input"), r, name="lora_a")
    update = linear(middle, *out, name="lora_b")
    return cast(add(update, base, name="sum"), x.dtype, name="output")


def lora(base: Linear, x: Tensor, *out: object, bias: bool = False) -> Tensor:
    """y = x W + (alpha / r) x A B, with W frozen and A, B in the dtype of x."""
    return _beside(base(x, *out, bias=bias), x, x.dtype, out)


def lora_float32(base: Linear, x: Tensor, *out: object, bias: bool = False) -> Tensor:
    """The same with A and B in float32, as the peft library makes them unless told otherwise."""
    return _beside(base(x, *out, bias=bias), x, FLOAT32, out)


def float8(base: Linear, x: Tensor, *out: object, bias: bool = False) -> Tensor:
    """y = x W with x and W cast to float8 and y in the dtype of x; the casts are kept for backward.

    Each linear casts for itself, as the modules do: three that share x keep three casts, each
    with a scale of its own. Scales are not counted.
    """
    return base(cast(x, FLOAT8, name="input"), *out, bias=bias, dtype=x.dtype)


for name, function in {"lora": lora, "lora-float32": lora_float32}.items():
    register(
        Adapter(
            name,
            "linear",
            function,
            ("lora_a", "lora_b"),
            (function.__doc__ or "").partition("\n")[0],
            "Hu et al. 2021, LoRA",
        )
    )

register(
    Adapter(
        "float8",
        "linear",
        float8,
        None,
        (float8.__doc__ or "").partition("\n")[0],
        "Micikevicius et al. 2022, FP8 formats; Transformer Engine: Linear",
    )
)
