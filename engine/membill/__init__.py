"""Membill: where every byte of training memory comes from, as formulas.

>>> import membill
>>> print(membill.layer("gpt").activations())
34Tbd + 5hT²b + 16Tb
"""

from membill.devices import Device, device
from membill.errors import InputError, MembillError, SpecError
from membill.formula import Formula
from membill.layers import Layer
from membill.ledger import Ledger, Row
from membill.plans import Plan, plan
from membill.registry import layer, shape
from membill.shapes import Shape

__version__ = "0.1.0"

__all__ = [
    "Device",
    "Formula",
    "InputError",
    "Layer",
    "Ledger",
    "MembillError",
    "Plan",
    "Row",
    "Shape",
    "SpecError",
    "device",
    "layer",
    "plan",
    "shape",
]
