"""What a spec is written with: `from membill.spec import layer, needs, op, scope, weight`."""

from membill.adapter import Adapter
from membill.architecture import Architecture, Slot, architecture, repeat
from membill.cache import Cache
from membill.config import Configuration, Setting, Value, at
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
from membill.formats import Format
from membill.formula import Condition
from membill.graph import Declared, needs
from membill.measured import Difference, Measured
from membill.mesh import Axis, Rule
from membill.offload import Link, Movement
from membill.ops import op
from membill.pipeline import Schedule
from membill.precision import Precision
from membill.published import InFlight, OfLayer, OfStates, Published
from membill.recipe import Partition, Recipe
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
from membill.state import Constants, Small, State, Weight
from membill.tensor import Role, Tensor, dims, product
from membill.textbook import Textbook
from membill.tracing import buffer, constant, data, held, index, scope, weight
from membill.worked import Figure, OfBill, OfCache, Worked

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
    "Architecture",
    "Axis",
    "Cache",
    "Condition",
    "Configuration",
    "Constants",
    "DType",
    "Declared",
    "Difference",
    "Figure",
    "Format",
    "InFlight",
    "Link",
    "Measured",
    "Movement",
    "OfBill",
    "OfCache",
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
    "Setting",
    "Slot",
    "Small",
    "State",
    "Tensor",
    "Textbook",
    "Value",
    "Weight",
    "Worked",
    "add_audit_results",
    "add_shapes",
    "add_templates",
    "architecture",
    "at",
    "buffer",
    "choice",
    "constant",
    "data",
    "dims",
    "held",
    "index",
    "layer",
    "needs",
    "op",
    "product",
    "promoted",
    "provide",
    "register",
    "register_rules",
    "repeat",
    "scope",
    "weight",
]
