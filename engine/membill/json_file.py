"""A JSON object from a file that may be anything: checked before it is read, and read strictly."""

from __future__ import annotations

import json
import math
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from membill.errors import InputError

MOST_BYTES = 10**6

NOWHERE = object()
"""What `deep` gives for a key that is not there."""


def read_object(path: Path) -> dict[str, Any]:
    """The object that a JSON file holds, of at most a megabyte; each key once, no NaN.

    Raises InputError that names the file for anything else; a larger file is not read.
    """
    _check_file(path)
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    _check_size(path, len(content))
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8: byte {error.start} is no text") from error
    return _parsed(path, text)


def _check_file(path: Path) -> None:
    try:
        found = path.stat()
    except FileNotFoundError as error:
        raise InputError(f"{path} does not exist: give the path of a config.json") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{str(path)!r} cannot be read: {error}") from error
    if stat.S_ISDIR(found.st_mode):
        raise InputError(f"{path} is a directory: give the path of the config.json in it")
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"{path} is not a regular file")
    _check_size(path, found.st_size)


def _check_size(path: Path, size: int) -> None:
    if size > MOST_BYTES:
        raise InputError(
            f"{path} has {size:,} bytes: a configuration has at most {MOST_BYTES:,}, so it is not "
            "read"
        )


def _parsed(path: Path, text: str) -> dict[str, Any]:
    try:
        found = json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from error
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    except RecursionError as error:
        raise InputError(f"{path} is nested too deeply") from error
    except ValueError as error:  # an integer of more digits than Python reads
        raise InputError(f"{path} holds a number that is too long") from error
    if not isinstance(found, dict):
        raise InputError(f"{path} holds a {_kind(found)}, not an object: {{...}}")
    return found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise InputError(f"{key} is given twice: {shown(made[key])} and {shown(value)}")
        for number in value if isinstance(value, list) else [value]:
            if isinstance(number, float) and not math.isfinite(number):
                raise InputError(f"{key} = {shown(number)} is not a number that JSON knows")
        made[key] = value
    return made


def _kind(value: object) -> str:
    names = {list: "list", str: "string", bool: "boolean", int: "number", float: "number"}
    return names.get(type(value), "null")


def shown(value: object) -> str:
    """A value as JSON, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def deep(found: Mapping[str, Any], key: str) -> Any:
    """The value at a key, whose dots lead into objects, NOWHERE if there is none."""
    value: Any = found
    for part in key.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return NOWHERE
        value = value[part]
    return value


def same(one: object, other: object) -> bool:
    """Whether two values are one in JSON, where true is not 1."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)
