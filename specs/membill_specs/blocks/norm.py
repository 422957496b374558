"""RMSNorm, fused or op by op."""

from membill.spec import FLOAT32, Tensor, choice, scope

from membill_specs.ops import cast, mean, multiply, rms_norm, rsqrt, scale, square


@choice("rms_norm", "fused")
def fused_rms_norm(x: Tensor, name: str) -> Tensor:
    """One kernel; keeps its input and a float32 number per token."""
    return rms_norm(x, name=name)


@choice("rms_norm", "hugging-face")
def hugging_face_rms_norm(x: Tensor, name: str) -> Tensor:
    """As Hugging Face's LlamaRMSNorm runs without a compiler: in float32, op by op."""
    with scope(name):
        wide = cast(x, FLOAT32, name="float32")
        rstd = rsqrt(mean(square(wide)))
        y = multiply(wide, rstd, name="normalised")
        return scale(cast(y, x.dtype, name="cast"), name="gain")
