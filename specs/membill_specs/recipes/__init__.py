"""Training recipes: what is stored for every parameter."""

from membill.spec import register
from membill_specs.recipes.adam import RECIPES

register(*RECIPES)
