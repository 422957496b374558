"""Training recipes: what is stored for every parameter."""

from membill.spec import register
from membill_specs.recipes import adam, by_shape, frozen, one_moment

register(*adam.RECIPES, *one_moment.RECIPES, *by_shape.RECIPES, *frozen.RECIPES)
