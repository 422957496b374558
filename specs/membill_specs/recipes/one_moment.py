"""Optimizers that keep at most one number for each parameter."""

from membill.spec import Recipe
from membill_specs.recipes.states import FIRST, MIXED, MOMENTUM

RECIPES = (
    Recipe(
        "sgd",
        "SGD",
        MIXED,
        "The gradient alone, no momentum. In mixed precision: a float32 master copy remains.",
        "Robbins and Monro 1951; torch.optim.SGD",
        use="Where memory is all that counts, or the loss is smooth. Transformers train badly.",
    ),
    Recipe(
        "sgd-momentum",
        "SGD with momentum",
        (*MIXED, MOMENTUM),
        "One float32 momentum, in mixed precision.",
        "Sutskever et al. 2013; torch.optim.SGD with momentum",
        use="Convolutional networks, whose usual optimizer it is.",
    ),
    Recipe(
        "lion",
        "Lion",
        (*MIXED, FIRST),
        "The sign of a mix of gradient and one moment, in mixed precision. Where the weights are"
        " 16-bit and without a master copy, so is the moment of most implementations.",
        "Chen et al. 2023, Symbolic Discovery of Optimization Algorithms",
        use="In the place of Adam, at a smaller learning rate and a larger weight decay.",
    ),
)
