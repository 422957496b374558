"""Paths of ops and scopes, `attention.core.softmax`, and what lies within what."""

from __future__ import annotations


def upto(path: str, scope: str) -> str:
    """The part of `path` that ends with `scope`, or "" if `path` lies outside of it.

    `scope` may start anywhere: `upto("layers.attention.core.softmax", "attention.core")` is
    "layers.attention.core".
    """
    parts, wanted = path.split("."), scope.split(".")
    for start in range(len(parts) - len(wanted) + 1):
        if parts[start : start + len(wanted)] == wanted:
            return ".".join(parts[: start + len(wanted)])
    return ""


def within(path: str, scopes: tuple[str, ...]) -> bool:
    """Whether `path` lies within any of the scopes."""
    return any(upto(path, scope) for scope in scopes)
