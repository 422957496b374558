"""The layer that textbooks count by."""

from membill.spec import Textbook, register

register(
    Textbook(
        "gpt",
        source="Korthikanti et al. 2022, Table 2; logits in float32",
        logits="loss.cross_entropy.log_softmax",
        kinds={
            "weights": "weights",
            "gradients": "grads",
            "master": "master",
            "moments": "optimizer",
        },
        variants={"flash": {"attention": "flash"}},
    )
)
