"""MkDocs hook: generates the reference, fills in hand-written pages, adds font and pictures.

MEMBILL_SPECS names spec files of your own, joined as in PATH, that get pages too. With
MEMBILL_SITE_URL, where the site will stand, each page has the picture that links to it show.
"""

import os
import sys
from html import escape
from importlib.metadata import entry_points
from pathlib import Path

from mkdocs.exceptions import PluginError

FONT = "assets/fonts/stix-two-math.woff2"


def on_config(config):
    """Write the generated pages and put them into the navigation; name the version."""
    forget()
    import membill
    from membill import MembillError, render

    specs = filter(None, os.environ.get("MEMBILL_SPECS", "").split(os.pathsep))
    try:
        config.membill = render.site(Path(__file__).parent, map(Path, specs))
    except MembillError as error:
        raise PluginError(str(error)) from error
    config.membill.write(Path(config.docs_dir))
    config.nav = config.membill.arranged(config.nav)
    config.copyright = f"{config.site_name} {membill.__version__}"


def on_page_markdown(markdown, page, config, files):
    """Put figures into a hand-written page."""
    from membill import MembillError

    try:
        return config.membill.fill(markdown, page.file.src_uri)
    except MembillError as error:
        raise PluginError(str(error)) from error


def on_page_content(html, page, config, files):
    """Say in a sentence what a page is about, and where its picture will be."""
    from membill import render

    page.meta["shown"] = page.meta.get("description") or render.preview.description(html)
    page.meta["description"] = escape(page.meta["shown"])
    page.meta["picture"] = "assets/pictures/" + page.file.dest_uri.replace(".html", ".png")


def on_post_page(output, page, config):
    """Take out indentation; draw the picture, which is shown only if its address is known.

    The theme's search is a dialog without a name, which nobody could be told of.
    """
    from membill import render

    if config.site_url:
        shown = (config.site_name, page.title, page.meta["shown"])
        render.write_picture(Path(config.site_dir), page.meta["picture"], *shown)
    return render.compact(output.replace('role="dialog"', 'role="dialog" aria-label="Search"'))


def on_post_build(config):
    """Add the font for the characters that the built pages use."""
    from membill import render

    render.write_font(Path(config.site_dir), FONT)


def forget():
    """Import Membill and its specs anew: `mkdocs serve` builds again in one process."""
    specs = {point.module.partition(".")[0] for point in entry_points(group="membill.specs")}
    for name in [name for name in sys.modules if name.partition(".")[0] in {"membill", *specs}]:
        del sys.modules[name]
