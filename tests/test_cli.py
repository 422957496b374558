"""What the commands print and write."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner
from command_line import lines, run, section

import membill
from membill import golden, registry, tables
from membill.adapter import Adapter
from membill.cli import program
from membill.mesh import Axis
from membill.offload import Link, Movement
from membill.pipeline import Schedule
from membill.precision import Precision
from membill.recipe import Partition, Recipe
from membill.recompute import Policy

ESCAPE = "\x1b"


def process(*args: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from membill.cli import main; main()", *args]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_show_gpt_has_the_table_the_sums_and_the_closed_form():
    output = lines("show", "gpt")
    layer = membill.layer("gpt")
    assert output[:2] == ["GPT-3 layer", "gpt attention=eager dropout=on"]
    table = tables.kept(layer.ledger().rows).plain().splitlines()
    start = output.index("kept for backward") + 1
    assert output[start : start + len(table)] == table
    sums = output[output.index("by scope") + 2 :][:3]
    assert [line.split(maxsplit=1) for line in sums] == [
        ["norms", "4Tbd + 16Tb"],
        ["attention", "11Tbd + 5hT²b"],
        ["mlp", "19Tbd"],
    ]
    assert output[-5:] == [
        "closed form",
        "one layer           34Tbd + 5hT²b + 16Tb bytes",
        "without statistics  34Tbd + 5hT²b bytes, as papers print it",
        "parameters          12d² + 13d",
        "put in              d_k = d/h, d_ff = 4d",
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--recompute selective", "34Tbd"),
        ("--recompute full", "2Tbd"),
        ("--recompute mlp", "17Tbd + 5hT²b"),
        ("--recompute attention,mlp", "8Tbd"),
        ("--recompute attention --recompute mlp", "8Tbd"),
        ("--attention flash", "34Tbd + 4hTb"),
        ("--attention=flash --no-dropout", "32Tbd + 4hTb"),
        ("--dtype-bytes 4", "66Tbd + 9hT²b"),
        ("--dtype-bytes beta", "16βTbd + 2Tbd + 2βhT²b + hT²b"),
        ("--general", "10Tbd + 8Tb·h·d_k + 5hT²b + 4Tb·d_ff"),
    ],
)
def test_show_takes_variants_and_ways_to_count(options, expected):
    output = lines("show", "gpt", "--no-statistics", *options.split())
    assert section(output, "closed form")[0] == f"one layer   {expected} bytes"
    assert not any(line.startswith("without statistics") for line in output)


def test_show_says_which_options_are_in_force():
    output = lines("show", "gpt", "--no-dropout", "--recompute", "mlp,norms", "--dtype-bytes", "4")
    assert output[1] == "gpt attention=eager dropout=off recompute=mlp,norms dtype_bytes=4"
    general = lines("show", "gpt", "--general", "--no-statistics")
    assert general[1] == "gpt attention=eager dropout=on statistics=off specialise=off"
    assert not any(line.startswith("put in") for line in general)


def test_tables_that_layers_share_stand_apart():
    output = lines("show", "llama")
    shared = output[output.index("once for the model") + 2 :][:2]
    assert [line.split()[0] for line in shared] == ["cos", "sin"]
    assert "once for the model" not in lines("show", "gpt")


def test_options_may_stand_before_the_layer():
    assert run("show", "--latex", "gpt").stdout == run("show", "gpt", "--latex").stdout


def test_latex_is_the_formula_alone():
    formula = membill.layer("llama", norm="hugging-face").activations()
    assert run("show", "llama", "--norm", "hugging-face", "--latex").stdout == (
        formula.latex() + "\n"
    )


def test_json_of_show_has_all_that_show_prints():
    data = json.loads(run("show", "llama", "--swiglu", "fused", "--json").stdout)
    ledger = membill.layer("llama", swiglu="fused").ledger()
    assert data["options"]["swiglu"] == "fused"
    assert data["definitions"] == {"d_k": "d/h"}
    assert [row["tensor"] for row in data["rows"]] == [row.tensor for row in ledger.rows]
    assert [row["why"] for row in data["rows"]] == [list(row.why) for row in ledger.rows]
    assert [row["tensor"] for row in data["once_for_the_model"]] == ["cos", "sin"]
    assert list(data["scopes"]) == [scope for scope, _ in ledger.by_scope()]
    total = ledger.total()
    assert data["total"] == {
        "text": str(total),
        "latex": total.latex(),
        "python": total.python(),
        "unit": "bytes",
    }


def test_eval_of_llama_3_8b():
    args = ["llama", "--model", "llama-3-8b", "-b", "1", "-T", "8192", "--no-statistics"]
    assert "per token, in d  41.03d" in run("eval", *args).stdout
    assert "per token, in d  49.03d" in run("eval", *args, "--norm", "hugging-face").stdout


def test_eval_prints_exact_bytes_and_units():
    output = run("eval", "gpt", "--model", "gpt-3-175b", "-b", "1", "-T", "2048").stdout
    expected = membill.layer("gpt").activations()(b=1, T=2048, d=12288, h=96)
    assert output.splitlines()[2] == "GPT-3 175B: d = 12288, h = 96, b = 1, T = 2048"
    assert output.splitlines()[-5:] == [
        f"exact            {expected:,} B  2,868,903,936 B",
        "in GB (10⁹ B)    2.87 GB          2.87 GB",
        "in GiB (2³⁰ B)   2.67 GiB         2.67 GiB",
        "per token        1,400,848 B      1,400,832 B",
        "per token, in d  114d             114d",
    ]


def test_json_of_eval_is_exact():
    args = ["llama", "--model", "llama-3-8b", "-b", "1", "-T", "8192", "--json"]
    data = json.loads(run("eval", *args).stdout)
    values = {"b": 1, "T": 8192, "d": 4096, "h": 32, "n_kv": 8, "d_ff": 14336}
    assert data["values"] == values
    layer = membill.layer("llama")
    sizes = data["sizes"]
    assert sizes["one_layer"]["bytes"] == layer.activations()(**values)
    bare = sizes["without_statistics"]
    assert bare["bytes"] == layer.activations(statistics=False)(**values)
    assert bare["bytes_per_token_in_d"] == "1313/32"
    assert sizes["once_for_the_model"]["bytes"] == 4 * 8192 * 4096 // 32
    assert sizes["once_for_the_model"]["bytes_per_token"] is None


def test_dimensions_may_be_given_without_a_model():
    output = run("eval", "gpt", "-b", "2", "-T", "16", "--set", "d=64", "--set", "h=4").stdout
    expected = membill.layer("gpt").activations()(b=2, T=16, d=64, h=4)
    assert f"exact            {expected:,} B" in output


def test_a_dimension_that_is_overridden_takes_what_follows_from_it_along():
    args = ["--model", "gpt-3-175b", "-b", "1", "-T", "16", "--set", "d=960"]
    expected = membill.layer("gpt").activations()(b=1, T=16, d=960, h=96)
    assert f"exact            {expected:,} B" in run("eval", "gpt", *args).stdout


def test_a_symbolic_width_is_set_like_a_dimension():
    args = ["gpt", "--model", "gpt-2-124m", "-b", "1", "-T", "16"]
    by_symbol = lines("eval", *args, "--dtype-bytes", "beta", "--set", "beta=2")
    assert by_symbol[-5:] == lines("eval", *args)[-5:]


def test_list_names_all_that_a_plan_is_made_of():
    output = run("list").stdout
    known = registry.known()
    kinds = (Policy, Precision, Axis, Adapter, Recipe, Schedule, Partition, Movement, Link)
    items = [name for kind in kinds for name in registry.everything(kind)]
    for name in (*known.layers, *known.shapes, *items):
        assert f"\n{name} " in output
    assert "attention=eager|" in output
    assert "dropout=on|off" in output


def test_help_of_a_layer_has_the_options_of_its_spec():
    output = run("show", "llama", "--help").stdout
    assert "--norm [fused|hugging-face]" in output
    assert "--dropout / --no-dropout" in output
    assert "fused (default): One kernel" in output
    assert "--norm" not in run("show", "gpt", "--help").stdout


@pytest.mark.parametrize("args", [[], ["site"], ["new"]])
def test_a_group_alone_prints_its_help(args):
    assert run(*args).stdout.startswith(" ".join(["Usage: membill", *args]))


def test_every_command_and_option_has_a_help_text():
    def walk(command: click.Command) -> list[str]:
        ctx = click.Context(command)
        silent = [] if command.help else [str(command.name)]
        if isinstance(command, click.Group):
            below = [command.get_command(ctx, name) for name in command.list_commands(ctx)]
            return silent + [name for child in below if child for name in walk(child)]
        own = [p for p in command.params if isinstance(p, click.Option) and not p.secondary_opts]
        return silent + [f"{command.name} {option.name}" for option in own if not option.help]

    assert walk(program) == []


def test_version():
    assert run("--version").stdout == f"membill {membill.__version__}\n"


def test_new_layer_gives_a_file_that_works(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    output = lines("new", "layer", "my_block")
    assert output[0] == "wrote my_block.py"
    assert output[1].endswith("Next: membill show ./my_block.py")
    assert [path.name for path in tmp_path.iterdir()] == ["my_block.py"]
    shown = run("show", "./my_block.py", "--gated").stdout
    formula = membill.layer(str(tmp_path / "my_block.py"), gated=True).activations()
    assert f"{formula} bytes" in shown
    assert run("show", "my_block.py:my_block", "--gated").stdout == shown
    assert "per token" in run("eval", "my_block.py", "-b", "1", "-T", "8", "--set", "d=4").stdout


def test_new_layer_in_the_repository_writes_golden_files_too(tmp_path, monkeypatch):
    layers, goldens = tmp_path / "specs/membill_specs/layers", tmp_path / "tests/golden"
    layers.mkdir(parents=True)
    goldens.mkdir(parents=True)
    monkeypatch.chdir(layers)
    output = lines("new", "layer", "my_block")
    assert output[0] == "wrote my_block.py"
    assert output[-1].endswith("Next: membill show my_block")
    expected = golden.golden_files(membill.layer(str(layers / "my_block.py")))
    assert {file.name: file.read_text("utf-8") for file in goldens.iterdir()} == expected
    assert len(expected) == 2


@pytest.fixture
def mkdocs(tmp_path, monkeypatch):
    """A folder of a site, and the calls of MkDocs that are made from below it."""
    calls = []

    def call(command: list[str], env: dict[str, str]) -> int:
        calls.append((command, env))
        return 3

    (tmp_path / "mkdocs.yml").write_text("site_name: x\n")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    monkeypatch.delenv("MEMBILL_SPECS", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    monkeypatch.setattr(subprocess, "call", call)
    return calls


def test_site_build_runs_mkdocs_and_ends_with_its_status(tmp_path, mkdocs):
    result = CliRunner().invoke(program, ["site", "build", "--out", "there"])
    assert result.exit_code == 3
    [(command, env)] = mkdocs
    assert command == [
        *(sys.executable, "-m", "mkdocs", "build"),
        *("--config-file", str(tmp_path / "mkdocs.yml"), "--strict"),
        *("--site-dir", str(tmp_path / "below/there")),
    ]
    assert env["NO_MKDOCS_2_WARNING"] == "1"
    assert "MEMBILL_SPECS" not in env


def test_site_serve_tells_the_build_of_spec_files(tmp_path, mkdocs):
    for name in ("one", "two"):
        run("new", "layer", name)
    CliRunner().invoke(program, ["site", "serve", "--spec", "one.py", "--spec", "two.py"])
    [(command, env)] = mkdocs
    assert command[3] == "serve"
    expected = [str(tmp_path / "below" / name) for name in ("one.py", "two.py")]
    assert env["MEMBILL_SPECS"].split(os.pathsep) == expected


def test_a_pipe_gets_plain_text():
    result = process(
        "show", "gpt", env={**os.environ, "COLUMNS": "40", "PYTHONIOENCODING": "ascii"}
    )
    assert result.returncode == 0
    assert ESCAPE not in result.stdout
    assert result.stdout == run("show", "gpt").stdout


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
def test_a_terminal_gets_colours():
    ours, theirs = os.openpty()
    command = [sys.executable, "-c", "from membill.cli import main; main()", "show", "gpt"]
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(command, stdout=theirs, env=environment) as child:
        os.close(theirs)
        output = b""
        try:
            while chunk := os.read(ours, 65536):
                output += chunk
        except OSError:  # how Linux says that the other end was closed
            pass
    os.close(ours)
    assert child.returncode == 0
    text = output.decode()
    assert ESCAPE in text
    assert "34Tbd + 5hT²b + 16Tb bytes" in text


def test_a_pipe_that_closes_early_is_no_error():
    command = [sys.executable, "-c", "from membill.cli import main; main()", "show", "llama"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        assert child.stderr.read() == b""


def test_plain_output_does_without_rich():
    code = (
        "import sys; from membill.cli import program\n"
        "try: program(['show', 'gpt'])\n"
        "finally: assert 'rich' not in sys.modules and 'json' in sys.modules"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
