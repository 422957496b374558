"""What a spec is written with: `from membill.spec import layer, needs, op, scope, weight`."""

from membill.adapter import Adapter
from membill.declare import layer
from membill.dtypes import (
    BOOL,
    COMPUTE,
    FLOAT8,
    FLOAT32,
    INT4,
    INT8,
    INT32,
    INT64,
    UINT64,
    DType,
    promoted,
)
from membill.formula import Condition
from membill.graph import Declared, needs
from membill.mesh import Axis, Rule
from membill.offload import Link, Movement
from membill.ops import op
from membill.pipeline import Schedule
from membill.precision import Precision
from membill.published import InFlight, OfLayer, OfStates, Published
from membill.recipe import Constants, Partition, Recipe, State
from membill.recompute import Policy
from membill.registry import (
    add_audit_results,
    add_shapes,
    add_templates,
    choice,
    provide,
    register,
    register_rules,
)
from membill.tensor import Role, Tensor, dims, product
from membill.tracing import constant, index, scope, weight

__all__ = [
    "BOOL",
    "COMPUTE",
    "FLOAT8",
    "FLOAT32",
    "INT4",
    "INT8",
    "INT32",
    "INT64",
    "UINT64",
    "Adapter",
    "Axis",
    "Condition",
    "Constants",
    "DType",
    "Declared",
    "InFlight",
    "Link",
    "Movement",
    "OfLayer",
    "OfStates",
    "Partition",
    "Policy",
    "Precision",
    "Published",
    "Recipe",
    "Role",
    "Rule",
    "Schedule",
    "State",
    "Tensor",
    "add_audit_results",
    "add_shapes",
    "add_templates",
    "choice",
    "constant",
    "dims",
    "index",
    "layer",
    "needs",
    "op",
    "product",
    "promoted",
    "provide",
    "register",
    "register_rules",
    "scope",
    "weight",
]
