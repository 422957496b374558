"""Python's garbage collector, held back where nothing is garbage yet."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """No garbage collection within: for making many objects that all live on.

    A full collection walks every object alive, SymPy's too, so that a long layer would take more
    time an op than a short one.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
