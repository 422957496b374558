"""What the audit needs besides the engine, and what to say without it."""

from __future__ import annotations

from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any

from membill.errors import InputError

_used: set[str] = set()

INSTALL = "the audit needs {package}, which is not installed: pip install 'membill[audit]'"


def required(module: str) -> Any:
    """A module of PyTorch's or another library; InputError, saying what to install, without it."""
    package = module.partition(".")[0]
    if find_spec(package) is None:
        raise InputError(INSTALL.format(package=package))
    _used.add(package)
    return import_module(module)


def versions() -> dict[str, str]:
    """The versions of all packages that have been required so far, by name; 2.13.0, not +cpu."""
    return {name: metadata.version(name).partition("+")[0] for name in sorted(_used)}


def require_torch() -> None:
    """Raise InputError, saying what to install, if PyTorch is missing."""
    required("torch")
