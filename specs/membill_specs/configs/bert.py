"""BERT. Untied, transformers' head has two biases, and the spec has one: so it must be tied."""

from membill.spec import Configuration, Setting, at, register
from membill.symbols import C, P
from membill_specs.configs.common import MULTI_HEAD, OF_MULTI_HEAD

CLASSIFIER = "BertForSequenceClassification"

register(
    Configuration(
        "bert",
        architecture="bert",
        classes={
            "BertModel": {"head": "pooler"},
            "BertForMaskedLM": {"head": "masked-language-model"},
            CLASSIFIER: {"head": "classifier"},
        },
        fields={
            **MULTI_HEAD,
            P: at("max_position_embeddings"),
            C: at("id2label", "num_labels", entries=True, absent=2, only=CLASSIFIER),
        },
        options={"tied": Setting("tie_word_embeddings", True, ((True, True),))},
        requires={
            "hidden_act": ("gelu",),
            "add_cross_attention": (False,),
            "is_decoder": (False,),
            "type_vocab_size": (2,),
            "position_embedding_type": ("absolute",),
        },
        equal=OF_MULTI_HEAD,
    )
)
