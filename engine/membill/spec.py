"""What a spec is written with: `from membill.spec import layer, needs, op, scope, weight`."""

from membill.declare import layer
from membill.dtypes import BOOL, COMPUTE, FLOAT32, INT64, UINT64, DType
from membill.graph import Declared, constant, index, needs, scope, weight
from membill.ops import op
from membill.recompute import Policy
from membill.registry import add_policy, add_shapes, add_templates, choice
from membill.tensor import Role, Tensor

__all__ = [
    "BOOL",
    "COMPUTE",
    "FLOAT32",
    "INT64",
    "UINT64",
    "DType",
    "Declared",
    "Policy",
    "Role",
    "Tensor",
    "add_policy",
    "add_shapes",
    "add_templates",
    "choice",
    "constant",
    "index",
    "layer",
    "needs",
    "op",
    "scope",
    "weight",
]
