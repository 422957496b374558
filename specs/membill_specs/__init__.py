"""The knowledge: ops, blocks, layers, policies and model shapes, one short file each.

Importing this package registers all of it; a file put into `layers/` is found by being there.
"""

from importlib import import_module
from importlib.resources import files
from pkgutil import iter_modules

from membill.spec import (
    Adapter,
    Architecture,
    Cache,
    Configuration,
    Format,
    Link,
    Measured,
    Movement,
    Published,
    Recipe,
    Schedule,
    Textbook,
    Worked,
    add_audit_results,
    add_shapes,
    add_templates,
    provide,
)
from membill_specs import layers, mesh, policies, precisions

for module in iter_modules(layers.__path__):
    import_module(f"{layers.__name__}.{module.name}")

provide("membill_specs.adapters", Adapter)
provide("membill_specs.architectures", Architecture)
provide("membill_specs.caches", Cache)
provide("membill_specs.configs", Configuration)
provide("membill_specs.formats", Format)
provide("membill_specs.measured", Measured)
provide("membill_specs.offloading", Movement, Link)
provide("membill_specs.published", Published)
provide("membill_specs.recipes", Recipe)
provide("membill_specs.schedules", Schedule)
provide("membill_specs.textbook", Textbook)
provide("membill_specs.worked", Worked)

add_shapes(files("membill_specs.models"))
add_templates(files("membill_specs") / "templates")
add_audit_results(files("membill_specs") / "audit_results.json")

__all__ = ["layers", "mesh", "policies", "precisions"]
