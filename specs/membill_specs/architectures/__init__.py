"""Whole models: what comes before the layers, which layers in which pattern, what comes after.

Importing this package registers all of them; a file put here is found by being there.
"""

from importlib import import_module
from pkgutil import iter_modules

for module in iter_modules(__path__):
    import_module(f"{__name__}.{module.name}")
