"""Where in a spec a fault lies, and what to say of it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from types import CodeType, FrameType, TracebackType

import sympy

from membill.errors import InputError

# Frames here carry a spec's call on; the fault is in the spec that called.
_CARRIERS = frozenset(
    {Path(__file__).resolve().parent, Path(sympy.__file__).resolve().parent}
    | {Path(contextlib.__file__).resolve()}
)


def code_of(function: Callable[..., object]) -> CodeType:
    """The code object of a function, through any wrapper that `functools.wraps` made."""
    code: CodeType = getattr(function, "__wrapped__", function).__code__
    return code


def defined(function: Callable[..., object]) -> str:
    """`file:line` of a function's definition."""
    code = code_of(function)
    return f"{code.co_filename}:{code.co_firstlineno}"


def raised(error: BaseException, otherwise: Callable[..., object]) -> str:
    """`file:line` of the innermost frame of a spec in which `error` was raised."""
    found = [(f, line) for f, line in _unwind(error.__traceback__) if not _carries(f)]
    return f"{found[-1][0]}:{found[-1][1]}" if found else defined(otherwise)


def within(error: BaseException, path: Path) -> str:
    """`file:line` of the innermost frame in the file `path` in which `error` was raised."""
    lines = [line for name, line in _unwind(error.__traceback__) if name == str(path)]
    return f"{path}:{lines[-1]}" if lines else str(path)


def called(spec: Callable[..., object]) -> str:
    """`file:line` in the file of `spec` that is running now, or of the nearest spec calling."""
    frames = [(f.f_code.co_filename, f.f_lineno) for f in _stack(sys._getframe(1))]
    own = [frame for frame in frames if frame[0] == code_of(spec).co_filename]
    outside = [frame for frame in frames if not _carries(frame[0])]
    name, line = (own or outside or frames)[0]
    return f"{name}:{line}"


def explain(error: Exception) -> str:
    """The error's text; for a name that does not exist, with the nearest one that does."""
    if isinstance(error, InputError):
        return str(error)
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, (NameError, AttributeError)) and error.name:
        near = get_close_matches(error.name, _names_at(error), n=1)
        text += f". Did you mean {near[0]!r}?" if near else ""
    return text


def _carries(filename: str) -> bool:
    path = Path(filename).resolve()
    return not _CARRIERS.isdisjoint((path, *path.parents))


def _stack(frame: FrameType | None) -> list[FrameType]:
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames


def _unwind(trace: TracebackType | None) -> list[tuple[str, int]]:
    frames = []
    while trace is not None:
        frames.append((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    return frames


def _names_at(error: NameError | AttributeError) -> list[str]:
    """The names that were within reach where the error was raised."""
    if isinstance(error, AttributeError):
        return dir(error.obj)
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return [] if trace is None else [*trace.tb_frame.f_locals, *trace.tb_frame.f_globals]
