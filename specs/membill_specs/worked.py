"""Worked examples: figures for whole models as others have published them, with their source.

The left sides are citations, the only place where they are typed. Each names what it is of, so
that a page can set the derived figure beside it.
"""

from membill.spec import Figure, OfBill, OfCache, Worked, register
from membill.symbols import V
from membill_specs.blocks.loss import OUTPUT

SEVEN, SEVENTY = "llama-2-7b", "llama-3-70b"
STATES, LAYERS = "model states", "activations"
PAPERS = {"statistics": False}
"""Without per-token statistics, as papers count."""


def states(model: str, recipe: str = "adam-mixed", **settings: object) -> OfBill:
    """Model states of all parameters."""
    return OfBill(model, {"b": 1, "recipe": recipe, **settings}, category=STATES)


def again(recompute: str) -> dict[str, str]:
    """The setting for a recompute policy, if there is one."""
    return {"recompute": recompute} if recompute else {}


def gpt_layers(
    like: str, T: int, recompute: str = "", b: int = 1, attention: str = "eager"
) -> OfBill:
    """All layers by the constants of GPT-3's, at the sizes of another model."""
    settings = {"b": b, "T": T, **again(recompute), **PAPERS}
    return OfBill("gpt", settings, {"attention": attention}, like=like, category=LAYERS, part="gpt")


def own_layers(model: str, T: int, recompute: str = "", attention: str = "eager") -> OfBill:
    """All layers as the model has them."""
    settings = {"b": 1, "T": T, **again(recompute), **PAPERS}
    options = {"attention": attention}
    return OfBill(model, settings, options, category=LAYERS, part="llama")


def logits(model: str, T: int) -> OfBill:
    """The float32 numbers over the vocabulary that the loss keeps."""
    return OfBill(model, {"b": 1, "T": T}, category=OUTPUT, letter=V)


BLOG = ("attention.qkv", "attention.out", "mlp.down")
"""c_attn and c_proj, of which there are two in a layer."""


def starcoder(attention: str, adapt: tuple[str, tuple[str, ...]] | None = None) -> OfBill:
    """All layers of StarCoder, with adapters of rank 32 if any."""
    settings = {"b": 4, "T": 2048, **({"r": 32} if adapt else {}), **PAPERS}
    return OfBill(
        "starcoder-15b",
        settings,
        {"attention": attention},
        adapt=adapt,
        category=LAYERS,
        part="gpt_bigcode",
    )


def llama(name: str, title: str, model: str, T: int, given: dict[str, str]) -> Worked:
    """A model of Llama's by the constants of GPT-3's layer, and as its own layer is."""
    return Worked(
        name,
        title,
        f"Published with the constant 34 of GPT-3's layer (Korthikanti et al. 2022), T = {T}",
        "Every layer is taken to be GPT-3's, with attention op by op. The model's own layer has "
        "a gated MLP and no dropout.",
        (
            Figure("model states", given["states"], "GB", (states(model),)),
            Figure("layers, nothing recomputed", given["none"], "GB", (gpt_layers(model, T),)),
            Figure(
                "layers, attention's core recomputed",
                given["selective"],
                "GB",
                (gpt_layers(model, T, "selective"),),
            ),
            Figure("layers, all recomputed", given["full"], "GB", (gpt_layers(model, T, "full"),)),
            Figure("float32 logits", given["logits"], "GB", (logits(model, T),)),
            Figure(
                "states, layers all recomputed, logits",
                given.get("total", ""),
                "GB",
                (states(model), gpt_layers(model, T, "full"), logits(model, T)),
            ),
            Figure("its own layers, op by op", "", "GB", (own_layers(model, T),)),
            Figure(
                "its own layers, fused attention",
                "",
                "GB",
                (own_layers(model, T, attention="flash"),),
            ),
            Figure(
                "its own layers, all recomputed",
                "",
                "GB",
                (own_layers(model, T, "full", attention="flash"),),
            ),
            Figure(
                "the whole bill, fused attention",
                "",
                "GB",
                (OfBill(model, {"b": 1, "T": T, "recipe": "adam-mixed"}),),
            ),
        ),
    )


register(
    llama(
        "llama-2-7b",
        "Llama 2 7B on one device",
        SEVEN,
        4096,
        {
            "states": "107.8",
            "none": "104.2",
            "selective": "18.3",
            "full": "1.07",
            "logits": "0.52",
            "total": "109.4",
        },
    ),
    llama(
        "llama-3-70b",
        "Llama 3 70B on one device",
        SEVENTY,
        8192,
        {
            "states": "1129",
            "none": "1900",
            "selective": "182",
            "full": "10.7",
            "logits": "4.2",
        },
    ),
    Worked(
        "lesson",
        "A lesson: micro-batches and caches",
        "A lesson on models of the 7B class and of 70B, by the constant 34; T = 4096 in training",
        "A fused kernel keeps none of attention's matrices. The cache is of Llama 3 70B, with "
        "grouped heads and 16 bits an entry.",
        (
            *(
                Figure(
                    f"layers, fused attention, b = {b}",
                    given,
                    "GB",
                    (gpt_layers(SEVEN, 4096, b=b, attention="flash"),),
                    note,
                )
                for b, given, note in [
                    (1, "18.3", ""),
                    (4, "73.0", ""),
                    (8, "146.0", "Published without the log-sum-exp that the kernel keeps."),
                ]
            ),
            *(
                Figure(
                    f"cache of {b} sequence{'s' if b > 1 else ''} of {T} tokens",
                    given,
                    "GB",
                    (OfCache(SEVENTY, {"b": b, "T": T}),),
                )
                for T, b, given in [(4096, 1, "1.3"), (32768, 1, "10.7"), (8192, 32, "85.9")]
            ),
        ),
    ),
    Worked(
        "gpt-2-774m",
        "GPT-2 774M that did not fit into 32 GB",
        "NVIDIA/Megatron-LM, issue 525",
        "Megatron-LM's layer with attention op by op, float32 gradients, a vocabulary of 50304, "
        "b = 4, T = 1024. The plan said 23.3 GB; the card ran out of memory where the float32 "
        "logits were asked for.",
        (
            Figure(
                "float32 logits",
                "786.00",
                "MiB",
                (
                    OfBill(
                        "gpt-2-774m",
                        {"b": 4, "T": 1024, "V": 50304},
                        category=OUTPUT,
                        letter=V,
                    ),
                ),
            ),
            Figure(
                "model states",
                "",
                "GiB",
                (states("gpt-2-774m", "adam-mixed-fp32-grads", V=50304),),
            ),
            Figure("layers", "", "GiB", (gpt_layers("gpt-2-774m", 1024, b=4),)),
            Figure(
                "layers, were attention's matrices not kept",
                "",
                "GiB",
                (gpt_layers("gpt-2-774m", 1024, "selective", b=4),),
            ),
            Figure(
                "states and layers",
                "",
                "GiB",
                (
                    states("gpt-2-774m", "adam-mixed-fp32-grads", V=50304),
                    gpt_layers("gpt-2-774m", 1024, b=4),
                ),
            ),
        ),
    ),
    Worked(
        "bert-large",
        "BERT-large in float32",
        "Hugging Face documentation, Anatomy of model's memory",
        "Adam in float32, dropout, attention op by op, b = 4, T = 512. 14,949 MiB were measured, "
        "of which 1343 MiB are the CUDA context.",
        (
            Figure("model states", "", "MiB", (states("bert-large", "adam-fp32"),)),
            Figure(
                "layers",
                "",
                "MiB",
                (
                    OfBill(
                        "bert-large",
                        {"b": 4, "T": 512, "dtype_bytes": 4, **PAPERS},
                        {"attention": "eager"},
                        category=LAYERS,
                        part="bert",
                    ),
                ),
            ),
        ),
    ),
    Worked(
        "starcoder-15b",
        "StarCoder 15B and its adapter",
        "Hugging Face blog, pull request 1413; GiB are printed as GB there",
        "b = 4, T = 2048, one head of keys and values for all heads of queries. The published "
        "figures are of the layers alone, the second with LoRA of rank 32 and fused attention.",
        (
            Figure(
                "layers, attention op by op",
                "206",
                "GiB",
                (starcoder("eager"),),
                "Op by op, keys and values are copied for each head, and the copies are kept.",
            ),
            Figure(
                "layers, LoRA and fused attention",
                "34",
                "GiB",
                (starcoder("flash", ("lora", BLOG)),),
                "The published formula leaves out the input of the MLP's second adapter, "
                "dropout's masks, one of keys and values, and the log-sum-exp.",
            ),
        ),
    ),
)
