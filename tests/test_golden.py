"""One readable file for each layer and variant: its table, its reasons, its closed forms."""

from pathlib import Path

import pytest

import membill
from membill import golden, registry

FOLDER = Path(__file__).parent / "golden"
LAYERS = sorted(registry.known().layers)


@pytest.mark.parametrize("name", LAYERS)
def test_every_variant_derives_to_its_golden_file(
    name: str, request: pytest.FixtureRequest
) -> None:
    derived = golden.golden_files(membill.layer(name))
    if request.config.getoption("--update-golden"):
        for file, text in derived.items():
            (FOLDER / file).write_text(text, encoding="utf-8")
    for file, text in derived.items():
        path = FOLDER / file
        assert path.is_file(), f"no golden file {file}: run `pytest tests --update-golden`"
        assert path.read_text(encoding="utf-8") == text, f"{file} differs from what is derived"


def test_no_golden_file_is_left_of_a_layer_or_variant_that_is_gone(
    request: pytest.FixtureRequest,
) -> None:
    wanted = {file for name in LAYERS for file in golden.golden_files(membill.layer(name))}
    present = {path.name for path in FOLDER.iterdir()}
    if request.config.getoption("--update-golden"):
        for stale in present - wanted:
            (FOLDER / stale).unlink()
        present &= wanted
    assert present == wanted


def test_each_variant_has_a_file_of_its_own() -> None:
    for name in LAYERS:
        variants = membill.layer(name).variants()
        assert len({golden.file_name(variant) for variant in variants}) == len(variants)
