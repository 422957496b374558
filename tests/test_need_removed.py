"""Nothing is typed: without a need of one op, every formula that hangs on it changes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SHOW = """
import membill
from membill.symbols import T, b, h
for name, options in (("gpt", {}), ("gpt", {"dropout": False}), ("gpt", {"attention": "flash"})):
    print(membill.layer(name, **options).activations(statistics=False))
print(dict(membill.layer("gpt").ledger().by_scope())["attention"])
print(membill.layer("gpt").activations(dtype_bytes=4, statistics=False))
print(membill.layer("gpt").activations(recompute="selective", statistics=False))
"""


def derived(specs: Path, repository: Path) -> list[str]:
    path = os.pathsep.join([str(specs), str(repository / "engine")])
    run = subprocess.run(
        [sys.executable, "-c", SHOW],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.splitlines()


@pytest.mark.parametrize(
    ("gradient", "formulas"),
    [
        (
            "{x: needs(y, ",
            [
                "34Tbd + 5hT²b",
                "32Tbd + 2hT²b",
                "34Tbd + 4hTb",
                "11Tbd + 5hT²b",
                "66Tbd + 9hT²b",
                "34Tbd",
            ],
        ),
        (
            "{x: needs(",
            [
                "34Tbd + 3hT²b",
                "32Tbd + 2hT²b",  # the probabilities are still needed by the product with v
                "34Tbd + 4hTb",
                "11Tbd + 3hT²b",
                "66Tbd + 5hT²b",
                "34Tbd",
            ],
        ),
    ],
    ids=["as it is", "softmax needs nothing"],
)
def test_softmax_without_the_need_for_its_output(
    gradient: str, formulas: list[str], tmp_path: Path, repository: Path
) -> None:
    specs = tmp_path / "specs"
    shutil.copytree(repository / "specs", specs)
    softmax = specs / "membill_specs" / "ops" / "softmax.py"
    source = softmax.read_text(encoding="utf-8")
    assert source.count("{x: needs(y, ") == 1
    softmax.write_text(source.replace("{x: needs(y, ", gradient), encoding="utf-8")
    assert derived(specs, repository) == formulas
