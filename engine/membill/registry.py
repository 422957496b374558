"""Where specs are registered and found: installed spec packages, and files a user names."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, reduce
from importlib.metadata import entry_points
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from membill import location, recompute
from membill.errors import InputError, Problem, SpecError, unknown
from membill.mesh import Rule
from membill.shapes import Shape, read_shape

if TYPE_CHECKING:
    from membill.layers import Layer
    from membill.ops import OpSpec

GROUP = "membill.specs"

Function = TypeVar("Function", bound=Callable[..., object])
Item = TypeVar("Item")


class Named(Protocol):
    """Anything that is registered by name."""

    @property
    def name(self) -> str:
        """The name that it is asked for by."""


@dataclass(frozen=True)
class Registry:
    """What specs have declared so far."""

    layers: dict[str, Layer] = field(default_factory=dict)
    ops: dict[str, OpSpec] = field(default_factory=dict)
    shapes: dict[str, Traversable] = field(default_factory=dict)
    templates: dict[str, Traversable] = field(default_factory=dict)
    choices: dict[str, dict[str, Callable[..., object]]] = field(default_factory=dict)
    named: dict[type, dict[str, Any]] = field(default_factory=dict)
    pending: dict[type, list[str]] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    audits: list[Traversable] = field(default_factory=list)

    @property
    def policies(self) -> Mapping[str, recompute.Policy]:
        """Recomputation policies by name."""
        return self.of(recompute.Policy)

    def of(self, kind: type[Item]) -> Mapping[str, Item]:
        """All that is registered of a kind, by name; modules that wait to be asked go first."""
        if kind in self.pending:
            with _collecting(self):
                for module in self.pending.pop(kind):
                    importlib.import_module(module)
        return self.named.get(kind, {})


_installed = Registry(named={recompute.Policy: {"none": recompute.NONE, "full": recompute.FULL}})
_target: ContextVar[Registry] = ContextVar("registry", default=_installed)


def known() -> Registry:
    """Everything that the installed spec packages declare."""
    load()
    return _installed


@cache
def load() -> None:
    """Import every package that advertises itself under the entry point `membill.specs`."""
    found = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    if not found:
        raise InputError(f"no specs are installed: no package has the entry point {GROUP!r}")
    for point in found:
        point.load()


def add_layer(layer: Layer) -> None:
    """Register a layer; InputError if another file has taken its name."""
    _add(_target.get().layers, layer.name, layer, layer.function, "layer")


def add_op(spec: OpSpec) -> None:
    """Register an op; InputError if another file has taken its name."""
    _add(_target.get().ops, spec.kind, spec, spec.function, "op")


def _add(
    into: dict[str, object] | dict[str, Layer] | dict[str, OpSpec],
    name: str,
    item: object,
    function: Callable[..., object],
    what: str,
) -> None:
    present = into.get(name)
    if present is not None:
        other = location.code_of(present.function)  # type: ignore[attr-defined]
        if other.co_filename != location.code_of(function).co_filename:
            raise InputError(
                f"{location.defined(function)}: {what} {name!r} is already defined at "
                f"{other.co_filename}:{other.co_firstlineno}"
            )
    into[name] = item  # type: ignore[assignment]


def register(*items: Named) -> None:
    """Register policies, adapters, recipes, schedules ... each under its kind and name.

    Raises InputError if another of that kind has the name.
    """
    for item in items:
        table = _target.get().named.setdefault(type(item), {})
        if table.setdefault(item.name, item) != item:
            raise InputError(f"{_kind(type(item))} {item.name!r} is already defined")


def provide(module: str, *kinds: type) -> None:
    """Have a module, which registers items of these kinds, imported when one is asked for."""
    for kind in kinds:
        _target.get().pending.setdefault(kind, []).append(module)


def register_rules(*rules: Rule) -> None:
    """Append mesh rules, in the order in which they are tried."""
    _target.get().rules.extend(rules)


def everything(kind: type[Item]) -> Mapping[str, Item]:
    """All that is registered of a kind, by name."""
    return known().of(kind)


def find(kind: type[Item], name: object) -> Item:
    """The item of that kind and name; InputError, with the known ones, if there is none."""
    table = everything(kind)
    if not isinstance(name, str) or name not in table:
        raise unknown(_kind(kind), name, table)
    return table[name]


def _kind(kind: type) -> str:
    return kind.__name__.lower()


def add_shapes(folder: Traversable) -> None:
    """Register the model shapes of a folder, one TOML file each, read when asked for."""
    _installed.shapes.update(_files(folder, ".toml"))


def add_templates(folder: Traversable) -> None:
    """Register the spec files to start from of a folder, by what they define: layer.py.txt."""
    _installed.templates.update(_files(folder, ".py.txt"))


def add_audit_results(file: Traversable) -> None:
    """Register the file in which a spec package ships what its audit found, read when asked for."""
    _installed.audits.append(file)


def _files(folder: Traversable, ending: str) -> dict[str, Traversable]:
    files = sorted(folder.iterdir(), key=lambda file: file.name)
    return {file.name.removesuffix(ending): file for file in files if file.name.endswith(ending)}


def choice(group: str, name: str) -> Callable[[Function], Function]:
    """Register a function as the alternative `name` among those of `group`.

    A layer whose keyword argument defaults to one of the group can be asked for any other by
    name: `membill.layer("gpt", attention="flash")`.
    """

    def enrol(function: Function) -> Function:
        own = _target.get().choices.setdefault(group, {})
        present = own.get(name)
        if present is not None and location.defined(present) != location.defined(function):
            raise InputError(f"{group} {name!r} is already defined at {location.defined(present)}")
        own[name] = function
        return function

    return enrol


def alternatives(function: object) -> Mapping[str, Callable[..., object]]:
    """The group of alternatives that a function was registered in, by name; empty if in none.

    A spec file of the user's sees the installed alternatives and its own.
    """
    own = _target.get().choices
    for name in dict.fromkeys((*own, *_installed.choices)):
        group = ChainMap(own.get(name, {}), _installed.choices.get(name, {}))
        if any(member is function for member in group.values()):
            return group
    return {}


def policy(given: object) -> recompute.Policy:
    """The policy for a name, a predicate on ops, or a collection of these and scope paths.

    Raises InputError for anything else, and for an unknown name.
    """
    if isinstance(given, recompute.Policy):
        return given
    if isinstance(given, str):
        return find(recompute.Policy, given)
    if callable(given):
        return recompute.dropping(given)
    if isinstance(given, (list, tuple, set, frozenset)) and given:
        return reduce(recompute.both, (_part(item) for item in given))
    raise InputError(
        f"recompute = {given!r}: give a policy's name, a predicate on ops, or a collection of "
        "these and of scope paths"
    )


def _part(given: object) -> recompute.Policy:
    if isinstance(given, str) and given not in everything(recompute.Policy):
        return recompute.of_scopes([given])
    return policy(given)


def shape(name: str) -> Shape:
    """The dimensions of a known model: `membill.shape("llama-3-8b")["d"]`.

    Raises InputError, with the known names, for any other.
    """
    files = known().shapes
    if name not in files:
        raise unknown("model", name, files)
    return read_shape(name, files[name].read_text(encoding="utf-8"))


def layer(name: str, **options: str | bool) -> Layer:
    """A layer by its registered name or by the path of a spec file, with its options.

    `layer("gpt", attention="flash")`, `layer("path/to/mine.py")`, or, of a file that holds
    several, `layer("path/to/mine.py:name")`. Raises InputError for an unknown name or option.
    """
    if not isinstance(name, str):
        raise InputError(f"layer {name!r}: give a layer's name or the path of a spec file")
    if ".py" in name or "/" in name:
        path, _, pick = name.rpartition(":") if ".py:" in name else (name, "", "")
        found = layers_in(Path(path))
        if not pick and len(found) > 1:
            raise InputError(f"{name} holds several layers; name one: {name}:{next(iter(found))}")
        pick = pick or next(iter(found))
    else:
        found, pick = known().layers, name
    if pick not in found:
        raise unknown("layer", pick, found)
    return found[pick].variant(**options)


def layers_in(path: Path) -> Mapping[str, Layer]:
    """The layers that a spec file of the user's defines, by name; errors as `specs_in`."""
    return specs_in(path).layers


def specs_in(path: Path) -> Registry:
    """All that a spec file of the user's declares.

    Raises InputError if the file is missing or has no layer, SpecError if it cannot be run.
    """
    load()
    if not path.is_file():
        raise InputError(f"no spec file at {path}")
    module_spec = importlib.util.spec_from_file_location(f"_membill_{path.stem}", path)
    if module_spec is None or module_spec.loader is None:
        raise InputError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[module_spec.name] = module
    with _collecting(Registry()) as found:
        try:
            module_spec.loader.exec_module(module)
        except SyntaxError as error:
            fault = Problem(f"{path}:{error.lineno}", "", f"SyntaxError: {error.msg}")
            raise SpecError(str(path), [fault]) from error
        except Exception as error:
            fault = Problem(location.within(error, path), "", location.explain(error))
            raise SpecError(str(path), [fault]) from error
    if not found.layers:
        raise InputError(f"{path} defines no layer: decorate a function with @layer")
    return found


@contextmanager
def _collecting(into: Registry) -> Iterator[Registry]:
    token = _target.set(into)
    try:
        yield into
    finally:
        _target.reset(token)
