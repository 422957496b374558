"""What Membill raises. Each message names the place, the value and what is allowed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches


class MembillError(Exception):
    """Base of every error that Membill raises on purpose."""


class InputError(MembillError, ValueError):
    """A value from the caller is not allowed: the message says which, and what is."""


@dataclass(frozen=True)
class Problem:
    """One thing wrong in a spec: where it stands in the file, at which op, and what it is."""

    location: str
    path: str
    text: str

    def __str__(self) -> str:
        at = f" (at {self.path})" if self.path else ""
        return f"{self.location}{at}: {self.text}"


class SpecError(MembillError):
    """A spec cannot be derived. Carries all the problems found, not just the first."""

    def __init__(self, spec: str, problems: Iterable[Problem]) -> None:
        self.spec = spec
        self.problems = tuple(problems)
        count = len(self.problems)
        head = f"{spec}: {count} problem{'s' if count > 1 else ''}"
        super().__init__("\n  ".join([head, *map(str, self.problems)]))


def unknown(kind: str, value: object, allowed: Iterable[str], place: str = "") -> InputError:
    """An InputError for a name that does not exist, with the nearest one that does.

    place: goes behind the name, as in "unknown option 'atention' of layer 'gpt'".
    """
    names = sorted(allowed)
    near = get_close_matches(str(value), names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    choices = ", ".join(names) or "none"
    what = " ".join(filter(None, (kind, repr(value), place)))
    return InputError(f"unknown {what}.{hint} Known: {choices}")
