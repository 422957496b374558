"""The Jinja environment of templates and hand-written pages: filters, and names to ask for.

A name that does not exist is an error, never an empty string: no page can state a figure that
the registry does not know.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import jinja2
import sympy
from markupsafe import Markup, escape

from membill import dtypes, printer, registry, spacing, symbols, tables, units
from membill.adapter import Adapter
from membill.architecture import layers_of
from membill.cache import Cache
from membill.diff import diff
from membill.errors import InputError, unknown
from membill.finding import of_shape
from membill.formats import Format
from membill.formula import Formula
from membill.layers import Layer
from membill.ledger import total
from membill.measured import Measured
from membill.mesh import Axis
from membill.offload import Link, Movement
from membill.pipeline import Schedule
from membill.precision import Precision
from membill.published import Published
from membill.recipe import Partition, Recipe
from membill.render import (
    audited,
    bills,
    charts,
    crossings,
    facts,
    groups,
    inference,
    models,
    peak,
    plans,
    recipes,
)
from membill.render.calculator import script
from membill.render.math import mathml
from membill.render.terminal import terminal
from membill.shapes import Shape, read_shape
from membill.worked import Worked


def environment(known: registry.Registry, templates: Path, docs: Path) -> jinja2.Environment:
    """Templates from one folder; from the other, examples to quote and to run commands on."""
    examples = docs / "examples"
    every = shapes(known)
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        optimized=False,  # most templates run once
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "path": path,
        "mathml": _mathml,
        "math": lambda value: Markup(f"${tex(value)}$"),
        "wrapped": _wrapped,
        "reason": _reason,
        "prose": _prose,
        "tex": tex,
        "text": printer.text,
        "shape": tables.shape_text,
        "spelled": tables.spelled,
        "code": _code,
        "gb": units.gb,
        "gib": units.gib,
        "exact": units.exact,
        "percent": lambda share, places=0: units.percent(_fraction(share), places=places),
        "condition": lambda item: _mathml(plans.condition(item)),
        "decimal": lambda value, places=2: units.decimal(_fraction(value), places),
        "paragraphs": lambda text: text.split("\n\n"),
    }
    made.globals |= {
        "facts": facts,
        "charts": charts,
        "crossings": crossings,
        "models": models,
        "grouping": groups,
        "plans": plans,
        "inference": inference,
        "peaks": peak,
        "bills": bills,
        "per": recipes,
        "spacing": spacing,
        "length": facts.LENGTHS[0],
        "audited": audited,
        "symbols": symbols,
        "letters": {known.name: known.symbol for known in symbols.table()},
        "meaning": lambda symbol: symbols.info(symbol).meaning,
        "units": units,
        "dtypes": dtypes,
        "diff": diff,
        "dict": dict,
        "total": total,
        "width": lambda row: sympy.cancel(row.bytes.expr / sympy.Mul(*row.shape)),
        "entries": lambda row: sympy.Mul(*row.shape),
        "layers": tuple(known.layers.values()),
        "ops": known.ops,
        "policies": tuple(known.policies.values()),
        "rules": tuple(known.rules),
        "adapters": known.of(Adapter),
        **{
            name: tuple(known.of(kind).values())
            for name, kind in {
                "axes": Axis,
                "schedules": Schedule,
                "recipes": Recipe,
                "caches": Cache,
                "formats": Format,
                "partitions": Partition,
                "precisions": Precision,
                "measured": Measured,
                "movements": Movement,
                "links": Link,
                "published": Published,
                "worked": Worked,
            }.items()
        },
        "shapes": every,
        "calculator": lambda *options: Markup(script(known, every, options)),
        "layer": lambda name, **options: _named(known, name).variant(**options),
        "example": lambda file: next(iter(registry.layers_in(examples / file).values())),
        "shape": registry.shape,
        "layers_of": layers_of,
        "model_of": of_shape,
        "text": lambda file: Markup((docs.parent.parent / file).read_text(encoding="utf-8")),
        "source": lambda file: Markup((examples / file).read_text(encoding="utf-8")),
        "terminal": lambda command: Markup(terminal(command, examples)),
    }
    return made


def shapes(known: registry.Registry) -> tuple[Shape, ...]:
    """Every model shape, by name."""
    return tuple(
        read_shape(name, file.read_text(encoding="utf-8")) for name, file in known.shapes.items()
    )


def path(name: str) -> Markup:
    """A dotted path that a narrow column may break behind any of its dots."""
    return Markup(".<wbr>").join(name.split("."))


def tex(value: object) -> str:
    """LaTeX of a formula, an expression, or LaTeX itself."""
    if isinstance(value, Formula):
        return value.latex()
    return printer.latex(value) if isinstance(value, sympy.Basic) else str(value)


def fill(made: jinja2.Environment, text: str, where: str) -> str:
    """A hand-written page with its expressions put in; InputError names page and line."""
    try:
        return made.from_string(text).render()
    except jinja2.TemplateSyntaxError as error:
        raise InputError(f"{where}:{error.lineno}: {error.message}") from error
    except (jinja2.UndefinedError, InputError) as error:
        raise InputError(f"{where}:{_line(error)}: {error}") from error


def _line(error: Exception) -> str:
    """The line of the template in which an error was raised."""
    lines, trace = [""], error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            lines.append(str(trace.tb_lineno))
        trace = trace.tb_next
    return lines[-1]


def _named(known: registry.Registry, name: str) -> Layer:
    if name not in known.layers:
        raise unknown("layer", name, known.layers)
    return known.layers[name]


def _mathml(value: object) -> Markup:
    return Markup(mathml(tex(value), letters=True))


def _wrapped(value: Formula | Iterable[str], lead: str = "") -> Markup:
    """A sum as one piece of MathML for each term, so that a narrow page can break the line.

    lead: a relation to write before it.
    """
    terms = map(printer.latex, printer.terms(value.expr)) if isinstance(value, Formula) else value
    first, *others = terms
    begin = _after(lead, first) if lead else first
    pieces = [mathml(term, letters=True) for term in (begin, *map(_continued, others))]
    return Markup(f'<span class="sum{" led" if lead else ""}">{" ".join(pieces)}</span>')


def _continued(term: str) -> str:
    """A later term with its sign before it."""
    return _after("-", term[1:]) if term.startswith("-") else _after("+", term)


def _after(sign: str, term: str) -> str:
    """The empty group makes the sign one between two things, with space on both sides."""
    return f"{{}} {sign} {term}"


def _reason(formula: str) -> Markup:
    """A gradient formula in its parts, `x = ..., z = ...`, so that a narrow cell can break it."""
    *parts, last = formula.split(r",\ ")
    pieces = [mathml(part + ",") for part in parts] + [mathml(last)]
    return Markup(" ".join(pieces))


def _prose(text: str) -> Markup:
    """A docstring's paragraph as HTML; what stands in backticks or braces is code."""
    pieces = re.split(r"`([^`]*)`|(\{[^{}]*\})", text)
    words, *quoted = (pieces[start::3] for start in range(3))
    codes = (given if given is not None else braced for given, braced in zip(*quoted, strict=True))
    html = [escape(words[0])]
    for code, after in zip(codes, words[1:], strict=True):
        html += [Markup("<code>{}</code>").format(code), escape(after)]
    return Markup("").join(html)


def _code(function: Any) -> Markup:
    return Markup(inspect.getsource(function).rstrip())


def _fraction(value: Any) -> Fraction:
    """An exact number of SymPy's or Python's as a Fraction."""
    exact = sympy.Rational(value)
    return Fraction(int(exact.p), int(exact.q))
