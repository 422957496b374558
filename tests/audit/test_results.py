"""The results that ship with the specs are what the audit finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the audit needs PyTorch")
pytest.importorskip("transformers", reason="some layers are Hugging Face's")
pytest.importorskip("peft", reason="the adapters are PEFT's")

from membill.audit import outcome, results
from membill.audit.results import Results


@pytest.fixture(scope="module")
def found() -> Results:
    return outcome.everything().results


def test_the_results_that_ship_are_these(found: Results, announce: Callable[[str], None]) -> None:
    """If a difference is meant: make results."""
    announce(found.summary())
    (shipped,) = results.shipped()
    assert results.differences(shipped, found) == ()


def test_results_survive_a_file(found: Results, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(results.as_text(found), encoding="utf-8")
    assert results.read(path) == found


def test_a_difference_is_told_and_the_date_is_none(found: Results) -> None:
    assert results.differences(found, replace(found, date="1970-01-01")) == ()
    llama = found.models[0]
    other = replace(llama, runs=(replace(llama.runs[0], bytes=12_345), *llama.runs[1:]))
    gone, new = results.differences(found, replace(found, models=(other, *found.models[1:])))
    assert gone.startswith("no longer so: LlamaForCausalLM attention=flash: small, b=")
    assert new.startswith("not on file: LlamaForCausalLM attention=flash: small, b=")
    assert new.endswith(f"{llama.runs[0].storages} storages, 12,345 B")
