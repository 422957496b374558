"""Normalisation by fused kernels: they keep the input and per-token statistics in float32."""

from membill.spec import FLOAT32, Declared, Role, Tensor, needs, op, weight


def statistic(x: Tensor, name: str) -> Tensor:
    """One float32 number per token."""
    return x.like(name, shape=x.leading, dtype=FLOAT32, role=Role.STATISTIC)


@op(source="PyTorch derivatives.yaml: native_layer_norm; float32 statistics as on a GPU")
def layer_norm(x: Tensor) -> Declared:
    """LayerNorm over the features, with gain and bias.

    One kernel gives all three gradients, and PyTorch keeps the same for any of them.
    """
    mean, rstd = statistic(x, "mean"), statistic(x, "rstd")
    gain = weight("weight", *x.features)
    return x.like(), {
        x: needs(
            x,
            mean,
            rstd,
            gain,
            tex=r"\bar x = \tfrac{1}{\sigma}\left(\bar z - \langle \bar z \rangle"
            r" - \hat x \langle \bar z \odot \hat x \rangle\right),\ \bar z = g \odot \bar y,"
            r"\ \hat x = \tfrac{x - \mu}{\sigma}",
        ),
        gain: needs(x, mean, rstd, tex=r"\bar g = \sum \bar y \odot \hat x"),
        weight("bias", *x.features): needs(x, mean, rstd, tex=r"\bar b = \sum \bar y"),
    }


@op(source="PyTorch derivatives.yaml: _fused_rms_norm")
def rms_norm(x: Tensor) -> Declared:
    """RMSNorm over the features, with gain."""
    rstd = statistic(x, "rstd")
    gain = weight("weight", *x.features)
    return x.like(), {
        x: needs(
            x,
            rstd,
            gain,
            tex=r"\bar x = r \left(\bar z - \hat x \langle \bar z \odot \hat x \rangle\right),"
            r"\ \bar z = g \odot \bar y,\ \hat x = r\, x",
        ),
        gain: needs(x, rstd, tex=r"\bar g = \sum \bar y \odot \hat x"),
    }
