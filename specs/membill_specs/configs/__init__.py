"""How the config.json of each `model_type` is read, as `membill.config` explains.

Keys, and the values that they have where a file lacks them, are those of transformers 5.24.
Importing this package registers all of them; a file put here is found by being there.
"""

from importlib import import_module
from pkgutil import iter_modules

for module in iter_modules(__path__):
    import_module(f"{__name__}.{module.name}")
