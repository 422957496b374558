"""Training recipes: what is stored for every parameter."""

from membill.spec import register
from membill_specs.recipes import adam, quantised

register(*adam.RECIPES, *quantised.RECIPES)
