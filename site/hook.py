"""MkDocs hook: generates the reference, fills in hand-written pages, adds the math font.

MEMBILL_SPECS names spec files of your own, joined as in PATH, that get pages too.
"""

import os
import sys
from importlib.metadata import entry_points
from pathlib import Path

from mkdocs.exceptions import PluginError

FONT = "assets/fonts/stix-two-math.woff2"


def on_config(config):
    """Write the generated pages and add them to the navigation."""
    forget()
    from membill import MembillError, render

    specs = filter(None, os.environ.get("MEMBILL_SPECS", "").split(os.pathsep))
    try:
        config.membill = render.site(Path(__file__).parent, map(Path, specs))
    except MembillError as error:
        raise PluginError(str(error)) from error
    config.membill.write(Path(config.docs_dir))
    config.nav += config.membill.navigation


def on_page_markdown(markdown, page, config, files):
    """Put figures into a hand-written page."""
    from membill import MembillError

    try:
        return config.membill.fill(markdown, page.file.src_uri)
    except MembillError as error:
        raise PluginError(str(error)) from error


def on_post_build(config):
    """Add the font for the characters that the built pages use."""
    from membill import render

    render.write_font(Path(config.site_dir), FONT)


def forget():
    """Import Membill and its specs anew: `mkdocs serve` builds again in one process."""
    specs = {point.module.partition(".")[0] for point in entry_points(group="membill.specs")}
    for name in [name for name in sys.modules if name.partition(".")[0] in {"membill", *specs}]:
        del sys.modules[name]
