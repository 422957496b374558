"""Where a letter or an op appears, and the rows that a formula is the sum of: all are linked."""

import re

from membill import render, symbols
from membill.render.uses import Kind, Place, letters_of, uses

PAGES = {
    "layers/one.md": "# One\n$T_2$ and $d_k$, then `$h$`",
    "layers/two.md": '# Two &amp; more\n<math class="letters"><mn>2</mn><mi>T</mi></math>',
    "tool.md": "# Tool\n",
    "tool.js": '{"symbol":"n_i"}',
    "letters.js": "no page",
}


def row(page: str, name: str) -> str:
    return re.search(rf'<tr id="{name}">.*?</tr>', page)[0]


def test_letters_are_read_off_mathml_and_latex() -> None:
    squared = "<msubsup><mi>d</mi><mi>k</mi><mrow><mn>2</mn></mrow></msubsup>"
    rooted = "<msub><mi>n</mi><mrow><mrow><mi>kv</mi></mrow></mrow></msub>"
    assert letters_of(f'<math class="letters">{squared}{rooted}</math>') == {"d_k", "n_kv"}
    assert letters_of(r"$\frac{L}{p}\beta n_{\mathrm{kv}}$") == {"L", "p", "beta", "n_kv"}
    assert letters_of("<math><mi>T</mi></math> costs `$d$`") == set(), "tensors, and code"


def test_a_folder_is_a_kind_and_a_script_asks_for_letters() -> None:
    found = uses(PAGES)
    one, two = Place("layers/one", "One"), Place("layers/two", "Two & more")
    assert found["d_k"] == (Kind("layers", (one,), (two,)),)
    assert found["n_i"] == (Kind("", (Place("tool", "Tool"),), ()),)
    assert found["T"] == (Kind("layers", (two,), (one,)),)


def test_every_letter_of_a_page_is_linked_to_it(rendered: render.Site) -> None:
    page = rendered.pages["symbols.md"]
    for name in symbols.names():
        assert '<a href="' in row(page, name) or "on no page yet" in row(page, name)
    for path in ("plans/states", "recipes/adam-mixed", "plans/recomputation", "plans/adapters"):
        for name in letters_of(rendered.pages[f"{path}.md"]):
            folder = path.partition("/")[0]
            linked = f'href="{path}.html"', f'href="{folder}.html">all'
            assert any(link in row(page, name) for link in linked), (path, name)


def test_every_op_is_linked_to_who_uses_it(rendered: render.Site) -> None:
    users = re.findall(r"Used by: (.*)", rendered.pages["ops.md"])
    assert len(users) > 20
    assert all("<a href=" in each or "no layer yet" in each for each in users)


def test_every_box_of_bytes_is_linked_to_its_rows(rendered: render.Site) -> None:
    for path, text in rendered.pages.items():
        for caption in re.findall(r"<figcaption>(.*?)</figcaption>", text):
            assert "<a href=" in caption or "parameters that are trained" in caption, path
