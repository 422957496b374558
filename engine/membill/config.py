"""What the fields of a Hugging Face `config.json` are in Membill's letters, as data.

How each `model_type` is read is knowledge, declared in spec packages as a `Configuration`;
`membill.config_reading` interprets it, and `configurations_data` gives it as JSON, with which a
script in a browser does the same. It holds no function: only keys, values and expressions. An
expression is an integer, a symbol, or a sum, product or quotient of expressions; as JSON it is
`128`, `"d"`, `["+", x, y]`, `["*", x, y]` or `["/", x, y]`. The steps, in this order:

1. `model_type` finds the configuration; without one, a class of `architectures` does. Where it is
   unknown and `text_config` has a known one, `text_config` is what is read; options that it
   lacks are looked up around it. Of the names in `architectures`, one must be among `classes`,
   and brings the options that it stands for; without any, the first class is meant. Of several
   configurations of a type the first is taken whose keys in `when` are there, with these values,
   and whose keys in `given` are there and not null.
2. `requires`: a key that is there has one of these values, or the file is not supported.
3. `fields`, in order: each symbol's value, an integer from `least` to `most`.
4. `options`: each option's value. One that the architecture has anyway (`usual`) is left out.
5. `equal`: a key that is there and not null equals its expression. `divides`, `at_most`: the first
   expression of a pair divides, or is at most, the second. `cycles`: a list that is there has L
   entries; for each pair these ones, over and over, as many as the expression says.

A key with dots lies deeper: `rope_parameters.rope_type`. A key that is not declared is ignored, as
are those that a run decides: precision, dropout, attention's implementation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy

from membill import registry
from membill.architecture import Architecture
from membill.errors import InputError
from membill.finding import made
from membill.layers import OptionValue
from membill.symbols import info

MOST = 10**9
"""The largest size that is taken for one."""

Value = bool | int | float | str | None
"""What JSON has besides lists and objects."""

Pairs = tuple[tuple[sympy.Expr, sympy.Expr], ...]
Cycles = tuple[tuple[tuple[str, ...], sympy.Expr], ...]


@dataclass(frozen=True)
class Field:
    """Where a symbol's value stands.

    keys: what the value may be called, the usual name first; they must agree. None: it is the
    default. default: the value where there is none, over symbols of earlier fields; a field
    without one must be given. absent: the value where the key is not there at all, if that is not
    the same as null. optional: where there is no value, the symbol has none. times: what a given
    value is multiplied by. share: the value is a fraction of this, rounded down. flag: the key is
    a flag, and these are the values for true and for false. entries: a list or an object stands
    for how many entries it has. only: the class that has the symbol, if not all have. helper: the
    symbol serves later fields, and the model has none.
    """

    keys: tuple[str, ...] = ()
    default: sympy.Expr | None = None
    absent: sympy.Expr | None = None
    optional: bool = False
    times: sympy.Expr | None = None
    share: sympy.Expr | None = None
    flag: tuple[sympy.Expr, sympy.Expr] | None = None
    entries: bool = False
    only: str = ""
    helper: bool = False

    @property
    def required(self) -> bool:
        """Whether a file must give it."""
        return self.default is None and self.absent is None and not self.optional


@dataclass(frozen=True)
class Setting:
    """Where an option's value stands: under `key`, if it is there; else it is `absent`.

    values: the key's values that are supported, with the option's for each.
    """

    key: str
    absent: Value
    values: tuple[tuple[Value, OptionValue], ...] = ((True, True), (False, False))


@dataclass(frozen=True)
class Configuration:
    """How configurations of a `model_type` are read.

    model_type: its name, unless told. architecture: the spec of such a model. classes: those of
    `architectures` that it describes, each with its options. when: it is for files in which each
    of these keys has one of its values; given: in which none of these is null or lacks. The rest
    is explained at the top of this module.
    """

    name: str
    architecture: str
    classes: Mapping[str, Mapping[str, OptionValue]]
    fields: Mapping[sympy.Symbol, Field]
    options: Mapping[str, Setting] = field(default_factory=dict)
    requires: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    equal: Mapping[str, sympy.Expr] = field(default_factory=dict)
    divides: Pairs = ()
    at_most: Pairs = ()
    cycles: Mapping[str, Cycles] = field(default_factory=dict)
    when: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    given: tuple[str, ...] = ()
    model_type: str = ""

    @property
    def kind(self) -> str:
        """The `model_type`."""
        return self.model_type or self.name

    @property
    def particular(self) -> bool:
        """Whether it is for some files only."""
        return bool(self.when or self.given)


def usual_options(architecture: str) -> Mapping[str, OptionValue]:
    """What an architecture has for each of its options unless told."""
    return made(registry.find(Architecture, architecture)).options


def at(*keys: str, **more: Any) -> Field:
    """A symbol's value at one of these keys; the rest as in `Field`, with ints as they are."""
    return Field(keys, **{name: _exact(value) for name, value in more.items()})


def _exact(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_exact, value))
    return sympy.Integer(value) if type(value) is int else value


def by_type() -> dict[str, list[Configuration]]:
    """The configurations of each `model_type`, those for some files only before that for all."""
    found: dict[str, list[Configuration]] = {}
    every = registry.everything(Configuration).values()
    for spec in sorted(every, key=lambda spec: (spec.kind, not spec.particular)):
        found.setdefault(spec.kind, []).append(spec)
    return found


def configurations_data() -> dict[str, Any]:
    """All configurations as JSON: `{"most": ..., "configurations": {model_type: [...]}}`."""
    return {
        "most": MOST,
        "configurations": {kind: list(map(_data, specs)) for kind, specs in by_type().items()},
    }


def _lists(values: Mapping[str, tuple[Value, ...]]) -> dict[str, list[Value]]:
    return {key: list(each) for key, each in values.items()}


def _data(spec: Configuration) -> dict[str, Any]:
    return {
        "architecture": spec.architecture,
        "when": _lists(spec.when),
        "given": list(spec.given),
        "classes": {name: dict(options) for name, options in spec.classes.items()},
        "usual": dict(usual_options(spec.architecture)),
        "requires": _lists(spec.requires),
        "fields": [_field_data(symbol, item) for symbol, item in spec.fields.items()],
        "options": {
            name: {
                "key": setting.key,
                "absent": setting.absent,
                "values": [list(pair) for pair in setting.values],
            }
            for name, setting in spec.options.items()
        },
        "equal": {key: expression_data(expr) for key, expr in spec.equal.items()},
        "divides": [list(map(expression_data, pair)) for pair in spec.divides],
        "at_most": [list(map(expression_data, pair)) for pair in spec.at_most],
        "cycles": {
            key: [[list(kinds), expression_data(number)] for kinds, number in cycles]
            for key, cycles in spec.cycles.items()
        },
    }


def _field_data(symbol: sympy.Symbol, item: Field) -> dict[str, Any]:
    """Keys that say nothing are left out."""
    expressions = {
        "default": item.default,
        "absent": item.absent,
        "times": item.times,
        "share": item.share,
    }
    given = {
        "flag": item.flag and [expression_data(expr) for expr in item.flag],
        "optional": item.optional,
        "entries": item.entries,
        "only": item.only,
        "helper": item.helper,
        **{name: expr and expression_data(expr) for name, expr in expressions.items()},
    }
    return {
        "symbol": str(symbol),
        "least": info(symbol).least,
        "keys": list(item.keys),
        **{name: value for name, value in given.items() if value},
    }


def expression_data(expr: sympy.Expr) -> Any:
    """An expression as JSON, as the top of this module says; InputError if it is none."""
    above, below = sympy.fraction(expr)
    if expr.is_Integer:
        return int(expr)
    if isinstance(expr, sympy.Symbol):
        return str(expr)
    if below != 1:
        return ["/", expression_data(above), expression_data(below)]
    if isinstance(expr, sympy.Pow) and expr.exp.is_Integer:
        return ["*", *[expression_data(expr.base)] * int(expr.exp)]
    if isinstance(expr, sympy.Add | sympy.Mul):
        sign = "+" if isinstance(expr, sympy.Add) else "*"
        return [sign, *map(expression_data, sorted(expr.args, key=sympy.default_sort_key))]
    raise InputError(f"{expr} is not a sum, product or quotient of integers and symbols")
