"""Without one op's need, every page, chart and calculator number on it changes, and nothing else.

Two trees of specs, one as it is and one in which softmax needs nothing, tell their pages and what
the engine says of the same things (`stated`). No expectation is typed.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from javascript import Node

from membill import units

Told = dict[str, Any]
Both = tuple[Told, Told]

ANYWHERE = "*"  # as in `stated`
PAGE = "models/gpt-3-175b.md"


@pytest.fixture(scope="module")
def both(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Both:
    """What the specs tell as they are, and as a copy in which softmax needs nothing."""
    folder = tmp_path_factory.mktemp("both")
    specs = folder / "specs"
    shutil.copytree(repository / "specs", specs)
    softmax = specs / "membill_specs" / "ops" / "softmax.py"
    source = softmax.read_text(encoding="utf-8")
    assert source.count("{x: needs(y, ") == 1
    softmax.write_text(source.replace("{x: needs(y, ", "{x: needs("), encoding="utf-8")
    before, after = folder / "before.json", folder / "after.json"
    runs = [_run(repository, repository / "specs", before), _run(repository, specs, after)]
    assert [run.wait() for run in runs] == [0, 0]
    return json.loads(before.read_text("utf-8")), json.loads(after.read_text("utf-8"))


def _run(repository: Path, specs: Path, out: Path) -> subprocess.Popen[bytes]:
    path = os.pathsep.join([str(specs), str(repository / "engine")])
    script = repository / "tests" / "site" / "stated.py"
    command = [sys.executable, str(script), str(repository / "site"), str(out)]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path})


def _sections(text: str) -> dict[str, str]:
    """A page by its headings, "" before the first; a comment in a block of code is none."""
    found, name, code = {"": ""}, "", False
    for line in text.splitlines(keepends=True):
        code ^= line.startswith("```")
        heading = None if code else re.match(r"##+ (.+?)( \{.*\})?$", line)
        if heading:
            name = heading[1]
            assert name not in found
            found[name] = ""
        found[name] += line
    return found


def _section(both: Both, page: str, name: str) -> tuple[str, str]:
    before, after = (_sections(told["pages"][page])[name] for told in both)
    return before, after


def _differing(before: Told, after: Told) -> set[str]:
    assert before.keys() == after.keys()
    return {name for name in before if before[name] != after[name]}


def test_just_the_sections_change_that_rest_on_the_need(both: Both) -> None:
    pages, others = (told["pages"] for told in both)
    assert pages.keys() == others.keys()
    changed, expected = {}, {}
    for page in pages:
        facts, new = (told["facts"].get(page, {}) for told in both)
        found = _differing(_sections(pages[page]), _sections(others[page]))
        changed[page] = {ANYWHERE} if found and ANYWHERE in facts else found
        expected[page] = _differing(facts, new)
    assert changed == expected
    assert 10 < sum(map(bool, changed.values())) < len(pages) - 10


def test_every_layer_keeps_what_it_kept_but_for_softmax_alone(both: Both) -> None:
    before, after = both
    assert after["kept"] == before["without"] != before["kept"]


def test_no_formula_and_no_size_of_before_is_left(both: Both) -> None:
    gone, came = ({*told["formulas"], *map(units.exact, _bills(told).values())} for told in both)
    old, new = ("\n".join(told["pages"].values()) for told in both)
    assert sum(_states(old, each) for each in gone - came) > 20
    assert [each for each in gone - came if _states(new, each)] == []


def _states(text: str, formula: str) -> bool:
    """Whether a text has the formula, or the number, as a whole: not as a part of a longer one."""
    found = re.finditer(rf"{re.escape(formula)}(?![\w·/²])(?! [+-])", text)
    before = (text[max(at.start() - 2, 0) : at.start()] for at in found)
    return any(not re.search(r"([\w,·/²]|[+-] )$", each) for each in before)


def _bills(told: Told) -> dict[str, int]:
    """Bytes of the bill on the page of each model."""
    pages = ((page, facts) for page, facts in told["facts"].items() if page.startswith("models/"))
    return {page: facts["Plans side by side"] for page, facts in pages}


def _bill(told: Told) -> list[list[Any]]:
    """(category, part, formula, bytes) of the entries."""
    return list(told["facts"][PAGE]["Bill"])


def _rows(text: str) -> list[list[str]]:
    """The cells of each row of the tables, as HTML."""
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", text, flags=re.S)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, flags=re.S) for row in rows]


def test_of_a_bill_just_the_cells_change_whose_entries_do(both: Both) -> None:
    texts = _section(both, PAGE, "Bill")
    (_, *rows, last), (_, *others, end) = map(_rows, texts)
    for row, other, old, new in zip(rows, others, *map(_bill, both), strict=True):
        for cells, (category, part, _, size) in ((row, old), (other, new)):
            assert cells[0] == category
            assert cells[1] == units.gb(size)
            assert part in cells[3]
        assert (row[4] == other[4]) == (old[2] == new[2])
    totals = [units.exact(_bills(told)[PAGE]) for told in both]
    assert [cells[-1] for cells in (last, end)] == totals
    assert totals[0] != totals[1]


def test_a_table_of_what_is_kept_loses_just_the_rows_that_go(both: Both) -> None:
    names = {name: set(both[0][name]["gpt"]) for name in ("kept", "without")}
    before, after = (
        {re.sub("<.*?>", "", name): cells for name, *cells in _rows(text)[1:-1]}
        for text in _section(both, "layers/gpt.md", "What is kept")
    )
    assert before.keys() == names["kept"] > names["without"]
    assert after == {name: before[name] for name in before if name in names["without"]}


def test_bars_are_as_long_as_the_bill_says(both: Both) -> None:
    for told, text in zip(both, _section(both, PAGE, "Plans side by side"), strict=True):
        sizes = {f"{category} {units.gb(size)}": size for category, *_, size in _bill(told)}
        bars = re.findall(r'y="21" width="([^"]*)"[^>]*><title>(.*?)</title>', text)
        full = sum(float(width) for width, _ in bars)
        shown = {title: float(width) for width, title in bars if title in sizes}
        assert sum(title.startswith(("weights", "activations")) for title in shown) == 2
        for title, width in shown.items():
            assert width / full == pytest.approx(sizes[title] / _bills(told)[PAGE], abs=1e-3)


@pytest.mark.parametrize(
    ("page", "section"),
    [
        (PAGE, "Memory against length"),
        ("layers/gpt.md", "Charts"),
        ("layers/llama.md", "Charts"),
    ],
)
def test_of_lines_and_their_table_just_those_change_whose_formulas_do(
    both: Both, page: str, section: str
) -> None:
    changed = _differing(*(_formulas(told["facts"][page]) for told in both))
    texts = _section(both, page, section)
    before, after = map(_lines, texts)
    assert before.keys() > changed > set()
    moved = _differing(before, after)
    assert moved == changed or (moved > changed and len({*map(_scale, texts)}) == 2)
    (head, *rows), (other, *new) = (_rows(text.rpartition("<table")[2]) for text in texts)
    assert len(rows) == len(new) > 5
    for row, cells in zip(rows, new, strict=True):
        assert _differing(_by_name(head, row), _by_name(other, cells)) == changed


def _formulas(facts: Told) -> dict[str, str]:
    """By name, what the lines of the chart on the page of a model or layer are of."""
    modes = {name: stated[0] for name, stated in facts.items() if " = " in name}
    return facts.get("Memory against length") or {"default": facts["Formula"][0], **modes}


def _scale(text: str) -> tuple[str, ...]:
    """The numbers along the axes of a page's last chart."""
    return tuple(re.findall(r"<text [^>]*>(.*?)</text>", text[text.rindex("<svg viewBox") :]))


def _by_name(names: list[str], values: list[str]) -> dict[str, str]:
    """Values by name, of which lines and columns have several if they are of one formula."""
    pairs = zip(names, values, strict=True)
    return {name: value for several, value in pairs for name in several.split(", ")}


def _lines(text: str) -> dict[str, str]:
    """The lines of a page's last chart by what its legend calls them."""
    chart = text[text.rindex("<svg viewBox") :]
    drawn = re.findall(r'<path d="(M[^"]* L[^"]*)" class="(line[^"]*)"', chart)
    paths = {style: path for path, style in drawn}
    legend = re.findall(r'class="(line[^"]*)"/></svg>(.*?)</li>', chart)
    return _by_name([name for _, name in legend], [paths[style] for style, _ in legend])


PEAK = """(({ model, options, recompute }) => {
  const data = globalThis.membill, { architecture, dims, options: own } = data.models[model];
  const known = data.architectures[architecture].options;
  const each = (all, value) => Object.fromEntries(Object.keys(all).map((one) => [one, value(one)]));
  const degrees = Object.values(data.axes).map(({ letter }) => [letter, 1n]);
  return globalThis.membillCalculator.calculator(data).peak({
    architecture, recompute, more: {}, schedule: "", degrees: Object.fromEntries(degrees),
    dims: each(dims, (name) => BigInt(dims[name])),
    options: each(known, (name) => options[name] ?? own[name] ?? known[name].default),
    recipe: Object.keys(data.recipes).find((name) => data.recipes[name].usual),
    switches: each(data.switches, () => false), stages: each(data.partitions, () => "0"),
    b, T, dp: 1n, pp: 1n, chunks: 1n, micro_batches: 1n,
  });
})(SETTING)"""
LOAD = "(globalThis.window = globalThis, globalThis.document = { getElementById: () => null }, 0)"


def test_the_calculator_says_what_python_says_of_either(
    both: Both, node: Node, tmp_path: Path
) -> None:
    found: list[list[int]] = []
    node.evaluate(LOAD, {})
    for told in both:
        file = tmp_path / "calculator.js"
        file.write_text(told["pages"]["calculator.js"], encoding="utf-8")
        node.evaluate(
            f'((0, eval)(require("fs").readFileSync({json.dumps(str(file))}, "utf8")), 0)', {}
        )
        found.append([])
        for asked in told["asked"]:
            peak = f"(globalThis.found = {PEAK.replace('SETTING', json.dumps(asked))}).bytes"
            assert node.evaluate(peak, {"b": 1, "T": 128}) == asked["peak"], asked
            found[-1].append(node.evaluate("globalThis.found.bill.total", {}))
            assert found[-1][-1] == asked["total"], asked
    alone = [asked["alone"] for asked in both[0]["asked"]]
    assert [old - new for old, new in zip(*found, strict=True)] == alone
    assert 0 in alone
    assert max(alone) > 0
