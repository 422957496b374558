"""The calculator's numbers are the engine's, to the byte, for every model, file and setting."""

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import WIDE, opened
from calculating import PAGE, Asked, drawn, number, shown
from config_facts import MODELS, VARIED, fact

import membill
from membill import InputError

SETTINGS = drawn(seed=1, number=200)


@pytest.fixture(scope="module")
def page(browser: Any, site: Path) -> Iterator[Any]:
    """The calculator from the disk, open all the time."""
    found = opened(browser, WIDE, "light")
    found.goto(f"{site.as_uri()}/{PAGE}", wait_until="networkidle")
    yield found
    assert found.complaints == []
    found.context.close()


def test_settings_are_of_all_models_and_most_have_an_answer(page: Any) -> None:
    assert {asked.model for asked in SETTINGS} == set(membill.registry.known().shapes)
    assert sum(isinstance(shown(page, asked.address), dict) for asked in SETTINGS) > 100


@pytest.mark.parametrize("asked", SETTINGS, ids=lambda asked: asked.model)
def test_every_number_is_the_engines(page: Any, asked: Asked) -> None:
    found, expected = shown(page, asked.address), asked.answer()
    if expected is None:
        assert isinstance(found, str), asked
    else:
        assert found == expected, asked


CALLS = [
    Asked("llama-3-8b", {}, {"b": 2, "T": 4096}),
    Asked("gpt-3-175b", {"attention": "flash"},
          {"b": 1, "T": 2048, "recipe": "adafactor", "recompute": "selective", "tp": 8, "sp": True,
           "zero": 1, "dp": 16, "schedule": "interleaved", "pp": 8, "micro_batches": 16,
           "chunks": 2}, resized={"d": 6144, "V": 50304}),
    Asked("qwen3-4b", {"tied": False, "loss": "chunked"}, {"b": 3, "T": 512}),
    Asked("bert-base", {"head": "classifier"}, {"b": 3, "T": 512, "more-C": 7}),
]  # fmt: skip


@pytest.mark.parametrize("asked", CALLS, ids=lambda asked: asked.model)
def test_copied_calls_run_and_give_the_same(page: Any, asked: Asked) -> None:
    found = shown(page, asked.address)
    assert isinstance(found, dict), found
    same = (found["total"], found["peak"]["peak"], found["event"])
    assert _python(page) == same
    assert _command(page) == same


def _copied(page: Any, name: str) -> str:
    return str(page.get_attribute(f"[data-answer={name}]", "data-copy"))


def _python(page: Any, folder: Path | None = None) -> tuple[int, int, str]:
    """The bill's total, the peak and its event as the copied Python prints them."""
    command = [sys.executable, "-c", _copied(page, "python")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    peak, total = done.stdout.splitlines()
    size, _, event = peak.partition(" ")
    return int(total), int(size), event


def _command(page: Any, folder: Path | None = None) -> tuple[int, int, str]:
    """The same as the copied command prints them."""
    program, *arguments = shlex.split(_copied(page, "command"))
    run = "import sys; from membill.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", run, *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    assert program == "membill"
    told = json.loads(done.stdout)
    return int(told["total"]["bytes"]), int(told["peak"]["bytes"]), told["peak"]["at"]


def chosen(page: Any, content: str | bytes, name: str = "config.json") -> str:
    """Choose a file; what the page says then."""
    raw = content if isinstance(content, bytes) else content.encode()
    page.evaluate("document.querySelector('.verdict').textContent = ''")
    file = {"name": name, "mimeType": "application/json", "buffer": raw}
    page.set_input_files("input[name=file]", file)
    page.wait_for_function("document.querySelector('.verdict').textContent !== ''")
    return str(page.inner_text(".verdict"))


LONGEST = 1_500
CONFIGS = {**{name: fact(name) for name in MODELS}, **VARIED}


@pytest.mark.parametrize("name", CONFIGS)
def test_a_config_json_is_read_as_the_engine_reads_it(page: Any, tmp_path: Path, name: str) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(CONFIGS[name]), "utf-8")
    assert shown(page, "#model=llama-3-8b&T=512") is not None
    said = chosen(page, file.read_text("utf-8"))
    assert "No answer" not in said
    model = membill.model(str(file))
    assert model.shape is not None
    peak = model.peak(b=1, T=min(512, model.shape.get("P", 512)))
    bill = peak.bill
    assert number(page.inner_text("[data-peak=peak]")) == peak.bytes
    assert number(page.inner_text("[data-exact=total]")) == bill.bytes
    assert number(page.inner_text("[data-exact=parameters]")) == bill.size(bill.parameters)
    _restored(page, page.evaluate("location.hash"))


def _restored(page: Any, address: str) -> None:
    """A link brings the same configuration: all that was read of it, and no more."""
    before = page.inner_text("[data-answer=bill]"), page.inner_text("[data-answer=peak]")
    shown(page, "#model=llama-3-8b")
    shown(page, address)
    again = page.inner_text("[data-answer=bill]"), page.inner_text("[data-answer=peak]")
    assert again == before
    assert page.evaluate("location.hash") == address
    assert len(address) < LONGEST


def test_a_model_of_a_file_is_restored_from_its_address(page: Any, tmp_path: Path) -> None:
    name = "one of 'mine'.json"
    (tmp_path / name).write_text(json.dumps(fact("qwen3-4b")), "utf-8")
    shown(page, "#model=llama-3-8b&T=1024")
    chosen(page, json.dumps(fact("qwen3-4b")), name)
    assert name in page.inner_text("[data-answer=file]")
    total, peak = (
        number(page.inner_text(f"[data-{name}]")) for name in ("exact=total", "peak=peak")
    )
    same = (total, peak, page.inner_text("[data-event]"))
    assert (_python(page, tmp_path), _command(page, tmp_path)) == (same, same)
    address = page.evaluate("location.hash")
    other = shown(page, "#model=llama-3-8b")
    assert isinstance(other, dict)
    assert other["total"] != total
    again = shown(page, address)
    assert isinstance(again, dict)
    assert again["total"] == total
    with page.expect_download() as saving:
        page.click("text=Save the configuration")
    (tmp_path / "link").mkdir()
    saving.value.save_as(tmp_path / "link" / saving.value.suggested_filename)
    assert (_python(page, tmp_path / "link"), _command(page, tmp_path / "link")) == (same, same)


LLAMA = fact("llama-3-8b")
GEMMA = fact("gemma-3-1b")
REFUSED = {
    "list": "[1, 2]",
    "cut": json.dumps(LLAMA)[:100],
    "empty": "",
    "text": "hello",
    "trailing": '{"a": 1} 2',
    "huge": json.dumps({**LLAMA, "extra": "x" * 10**6}),
    "no type": "{}",
    "unknown type": '{"model_type": "llama9"}',
    "twice": '{"model_type": "llama", "model_type": "gpt2"}',
    "nan": '{"model_type": NaN}',
    "lacks": json.dumps({k: v for k, v in LLAMA.items() if k != "hidden_size"}),
    "not whole": json.dumps({**LLAMA, "hidden_size": 40.5}),
    "float": json.dumps({**LLAMA, "hidden_size": 4096.0}),
    "text size": json.dumps({**LLAMA, "hidden_size": "4096"}),
    "negative": json.dumps({**LLAMA, "num_hidden_layers": -1}),
    "true": json.dumps({**LLAMA, "num_hidden_layers": True}),
    "too much": json.dumps({**LLAMA, "vocab_size": 10**10}),
    "activation": json.dumps({**LLAMA, "hidden_act": "relu"}),
    "class": json.dumps({**LLAMA, "architectures": ["LlamaModel"]}),
    "heads": json.dumps({**LLAMA, "num_key_value_heads": 7}),
    "no head_dim": json.dumps({**LLAMA, "head_dim": None, "hidden_size": 4100}),
    "layer types": json.dumps({**GEMMA, "layer_types": ["full_attention"]}),
    "layer order": json.dumps({**GEMMA, "layer_types": GEMMA["layer_types"][::-1]}),
    "not text": b"\xff\xfe{}",
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_is_no_config_is_refused_in_the_engines_words(
    page: Any, tmp_path: Path, name: str
) -> None:
    content = REFUSED[name]
    file = tmp_path / "config.json"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as error:
        membill.model(str(file))
    shown(page, "#model=llama-3-8b")
    assert chosen(page, content).startswith("No answer")
    beside = page.inner_text("#c-file-wrong")
    expected = str(error.value).replace(f"{tmp_path}/", "")
    said, _, known = beside.partition(" Known: ")
    assert expected.startswith(said), beside
    assert "llama" in known or not known
