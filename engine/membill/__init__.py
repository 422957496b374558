"""Membill: where every byte of training memory comes from, as formulas.

>>> import membill
>>> print(membill.layer("gpt").activations())
34Tbd + 5hT²b + 16Tb
"""

from membill.bill import Bill
from membill.errors import InputError, MembillError, SpecError
from membill.finding import model
from membill.formula import Formula
from membill.growth import accumulation_steps, crossover, dominant, increase
from membill.layers import Layer
from membill.ledger import Ledger, Row
from membill.models import Model
from membill.offers import Offer
from membill.plans import Plan, plan
from membill.registry import layer, shape
from membill.shapes import Shape
from membill.solve import Solution
from membill.textbook import layer_activation_bytes, max_micro_batch, model_state_bytes

__version__ = "0.1.0"

__all__ = [
    "Bill",
    "Formula",
    "InputError",
    "Layer",
    "Ledger",
    "MembillError",
    "Model",
    "Offer",
    "Plan",
    "Row",
    "Shape",
    "Solution",
    "SpecError",
    "accumulation_steps",
    "crossover",
    "dominant",
    "increase",
    "layer",
    "layer_activation_bytes",
    "max_micro_batch",
    "model",
    "model_state_bytes",
    "plan",
    "shape",
]
