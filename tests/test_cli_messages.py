"""What the command line says of bad input: word for word, in one line, with exit status 2."""

from __future__ import annotations

import subprocess
import sys

import pytest
from command_line import message

from membill import registry, symbols
from membill.mesh import Axis

KNOWN = registry.known()
LAYERS = ", ".join(sorted(KNOWN.layers))
MODELS = ", ".join(sorted(KNOWN.shapes))
ATTENTION = ", ".join(sorted(next(iter(KNOWN.layers["gpt"].options)).values))
AXES = [f"--{name}" for name in KNOWN.named[Axis]]
OPTIONS = [
    *("--attention", "--dropout", "--no-dropout", "--latex", "--json", "--adapt", "--on"),
    *("--freeze", "--precision", "--recompute", *AXES, "--sp", "--no-statistics"),
    *("--dtype-bytes", "--general", "--help", "-h"),
]
GPT = "eval gpt --model gpt-3-175b"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "shw gpt",
            "unknown command 'shw'. Did you mean 'show'? Known: audit, bill, cache, eval, fit, "
            "frontier, list, new, pipeline, show, site, solve, states",
        ),
        ("--foo", "unknown option '--foo'. Known: --help, --version, -h"),
        ("show", f"show which layer? Known: {LAYERS}, or the path of a spec file"),
        ("eval --json", f"eval which layer? Known: {LAYERS}, or the path of a spec file"),
        ("show gtp", f"unknown layer 'gtp'. Did you mean 'gpt'? Known: {LAYERS}"),
        ("show nowhere.py", "no spec file at nowhere.py"),
        ("show gpt extra", "Got unexpected extra argument (extra)"),
        (
            "show gpt --atention flash",
            "unknown option '--atention'. Did you mean '--attention'? Known: OPTIONS",
        ),
        (
            "show gpt --attention flsh",
            f"unknown attention 'flsh' of layer 'gpt'. Did you mean 'flash'? Known: {ATTENTION}",
        ),
        ("show gpt --attention", "Option '--attention' requires an argument."),
        (
            "show gpt --recompute selektive",
            "unknown recompute policy or scope 'selektive'. Did you mean 'selective'? Known: "
            "attention, attention.core, full, mlp, none, norms, selective",
        ),
        (
            "show gpt --recompute mlp,atention",
            "unknown recompute policy or scope 'atention'. Did you mean 'attention'? Known: "
            "attention, attention.core, mlp, norms",
        ),
        (
            "show gpt --recompute mlp --recompute none",
            "unknown recompute policy or scope 'none'. Known: attention, attention.core, mlp, "
            "norms",
        ),
        (
            "show gpt --dtype-bytes 0",
            "--dtype-bytes = 0 is not allowed: --dtype-bytes is an integer > 0 or a symbol",
        ),
        (
            "show gpt --dtype-bytes 2.5",
            "--dtype-bytes = 2.5 is not allowed: --dtype-bytes is an integer > 0 or a symbol",
        ),
        (
            "show gpt --dtype-bytes bta",
            "unknown symbol 'bta'. Did you mean 'beta'? Known: SYMBOLS",
        ),
        ("show gpt --latex --json", "give one of --latex and --json"),
        (
            "eval gpt --model gpt-3-175 -b 1 -T 1",
            f"unknown model 'gpt-3-175'. Did you mean 'gpt-3-175b'? Known: {MODELS}",
        ),
        (
            "eval gpt",
            "no value for T, b, d, h: give -T ... -b ... --set d=... --set h=... (or --model "
            "NAME for a model's dimensions)",
        ),
        (f"{GPT} -T 2048", "no value for b: give -b ..."),
        (
            f"{GPT} -b 1 -T 8 --dtype-bytes beta",
            "no value for beta: give --set beta=...",
        ),
        (f"{GPT} -b 1 -T 0", "T = 0 is not allowed: T is an integer > 0"),
        (f"{GPT} -b -1 -T 8", "b = -1 is not allowed: b is an integer > 0"),
        (f"{GPT} -b 1 -T 2.5", "T = 2.5 is not allowed: T is an integer > 0"),
        (f"{GPT} -b one -T 8", "b = one is not allowed: b is an integer > 0"),
        (f"{GPT} -b 1 -T {'9' * 31}", "T has 31 digits: at most 30 are allowed"),
        (f"{GPT} -b 1 -T 8 --set d", "--set d: give NAME=VALUE, such as d=4096"),
        (f"{GPT} -b 1 -T 8 --set d=", "d =  is not allowed: d is an integer > 0"),
        (f"{GPT} -b 1 -T 8 --set d=2*3", "d = 2*3 is not allowed: d is an integer > 0"),
        (
            f"{GPT} -b 1 -T 8 --set bta=2",
            "unknown symbol 'bta'. Did you mean 'beta'? Known: SYMBOLS",
        ),
        (
            f"{GPT} -b 1 -T 8 --set d=100",
            "d_k = d/h is not a whole number at d = 100, h = 96, b = 1, T = 8",
        ),
        (
            "eval gpt --model llama-2-7b -b 1 -T 8",
            "d_ff = 11008 contradicts d_ff = 4d = 16384, which this formula has put in; ask for "
            "it with --general",
        ),
        ("new layr", "unknown command 'layr'. Did you mean 'layer'? Known: layer"),
        ("new layer", "Missing argument 'NAME'."),
        ("new layer 3x", "layer name '3x': give a Python identifier, such as my_layer"),
        ("new layer ../x", "layer name '../x': give a Python identifier, such as my_layer"),
        ("new layer class", "layer name 'class': give a Python identifier, such as my_layer"),
        ("new layer gpt", "there is a layer 'gpt' already: give another name"),
        ("new layer add", "the new layer's file imports 'add': give the layer another name"),
        ("site build --spec nowhere.py", "no spec file at nowhere.py"),
    ],
)
def test_message(line, expected, tmp_path, monkeypatch):
    (tmp_path / "mkdocs.yml").write_text("site_name: x\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    # Which symbols there are is known at the end only: a spec may define more.
    expected = expected.replace("SYMBOLS", ", ".join(sorted(symbols.names())))
    expected = expected.replace("OPTIONS", ", ".join(sorted(OPTIONS)))
    assert message(*line.split()) == expected
    assert [path.name for path in tmp_path.iterdir()] == ["mkdocs.yml"]


def test_a_site_needs_its_configuration(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    expected = f"no mkdocs.yml in {tmp_path} or above: run this in the repository of a site"
    assert message("site", "build") == expected


def test_a_site_needs_mkdocs(tmp_path, monkeypatch):
    (tmp_path / "mkdocs.yml").write_text("site_name: x\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert message("site", "serve") == "the site needs MkDocs: pip install 'membill[site]'"


def test_a_new_layer_overwrites_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("precious")
    assert message("new", "layer", "mine") == "mine.py exists already: nothing written"
    assert (tmp_path / "mine.py").read_text() == "precious"


def test_a_new_layer_is_not_half_written(tmp_path, monkeypatch):
    layers, goldens = tmp_path / "specs/membill_specs/layers", tmp_path / "tests/golden"
    layers.mkdir(parents=True)
    goldens.mkdir(parents=True)
    (goldens / "mine.txt").write_text("precious")
    monkeypatch.chdir(tmp_path)
    said = message("new", "layer", "mine")
    assert said == f"{goldens / 'mine.txt'} exists already: nothing written"
    assert list(layers.iterdir()) == []

    (goldens / "mine.txt").unlink()
    goldens.rmdir()
    goldens.symlink_to(tmp_path / "full", target_is_directory=True)
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine.txt").symlink_to(tmp_path / "missing/mine.txt")
    said = message("new", "layer", "mine")
    assert said == f"{goldens / 'mine.txt'}: File exists: nothing written"
    assert list(layers.iterdir()) == []


SPEC = """
from membill.spec import layer, needs, op

@op
def twice(x):
    return x.like(), {x: needs(tex="")}

@layer("faulty")
def faulty(x, *, json: bool = False):
    return twise(x)

@layer("other")
def other(x):
    return twise(x)
"""


def test_a_fault_in_a_spec_is_told_with_its_line(tmp_path):
    path = tmp_path / "faulty.py"
    path.write_text(SPEC)
    assert message("show", f"{path}:other") == (
        f"other: 1 problem\n  {path}:14: NameError: name 'twise' is not defined. "
        "Did you mean 'twice'?"
    )


def test_a_file_of_several_layers_wants_a_name(tmp_path):
    path = tmp_path / "faulty.py"
    path.write_text(SPEC)
    said = message("show", str(path))
    assert said == f"{path} holds several layers; name one: {path}:faulty"


def test_an_option_of_a_spec_may_not_hide_one_of_the_command(tmp_path):
    path = tmp_path / "faulty.py"
    path.write_text(SPEC)
    assert message("show", f"{path}:faulty") == (
        "layer 'faulty': its option 'json' is also one of this command: give it another name in "
        "the spec"
    )


def test_the_process_ends_with_status_2_and_no_traceback():
    command = [sys.executable, "-c", "from membill.cli import main; main()", "show", "gtp"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr == (f"membill: unknown layer 'gtp'. Did you mean 'gpt'? Known: {LAYERS}\n")
