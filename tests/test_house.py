"""The rules of the house: who may know what, and who may import whom."""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from membill import registry

ROOT = Path(__file__).resolve().parent.parent
ENGINE = sorted((ROOT / "engine" / "membill").rglob("*.py"))
SPECS = sorted((ROOT / "specs" / "membill_specs").rglob("*.py"))

# Ops whose names are everyday words of programming, too.
EVERYDAY = {
    "add", "affine", "cast", "copy", "cube", "divide", "mean", "multiply", "part", "regroup",
    "scale", "square", "take",
}  # fmt: skip
NETWORKS = {
    "adam", "adamw", "attn", "bert", "dropout", "embedding", "feedforward", "ffn", "gelu",
    "layernorm", "llama", "lora", "megatron", "mistral", "mlp", "moe", "optimizer", "relu", "rope",
    "rmsnorm", "rotary", "sgd", "silu", "softmax", "swiglu", "transformer", "transformers",
}  # fmt: skip


def forbidden() -> set[str]:
    known = registry.known()
    models = {re.split(r"[-.\d]", name)[0] for name in known.shapes}
    return NETWORKS | {*known.layers, *known.choices, *models} | (known.ops.keys() - EVERYDAY)


def docstrings(tree: ast.AST) -> Iterator[int]:
    """The lines on which docstrings, and texts that stand alone, begin."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.lineno


def words(path: Path) -> Iterator[tuple[int, str]]:
    """The names and strings of a file's code, without docstrings and comments."""
    source = path.read_text(encoding="utf-8")
    prose = set(docstrings(ast.parse(source)))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        named = token.type == tokenize.NAME
        if named or (token.type == tokenize.STRING and token.start[0] not in prose):
            yield token.start[0], token.string


@pytest.mark.parametrize("path", ENGINE, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_engine_knows_no_network(path: Path) -> None:
    if path.name == "symbols.py":  # says what the letters mean, of which one counts heads
        return
    pattern = re.compile(rf"(?<![a-z])({'|'.join(sorted(forbidden()))})(?![a-z])", re.IGNORECASE)
    found = [f"{path}:{line}: {word}" for line, word in words(path) if pattern.search(word)]
    assert not found, "\n".join(found)


def test_the_rule_itself_finds_what_it_forbids(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text('"""Of gpt."""\n# llama\nkind = "softmax"\nis_attention = kind\n', "utf-8")
    assert [word for _, word in words(bad)] == ["kind", '"softmax"', "is_attention", "kind"]
    assert {"softmax", "gpt", "attention", "llama", "gelu", "layer_norm"} <= forbidden()


def calls(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func).rpartition(".")[2]


def imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.parametrize(
    "path",
    [path for path in SPECS if path.parent.name in ("ops", "blocks", "layers")],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_specs_state_tensors_and_never_add_up(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not {"sum", "total", "Formula", "price", "collect", "prod"} & set(calls(tree))
    numbers = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and type(node.value) in (int, float)
    }
    assert all(type(number) is int and 0 <= number <= 8 for number in numbers), numbers
    allowed = {"membill.spec", "membill.symbols", "sympy"}
    used = {name for name in imports(tree) if name.partition(".")[0] in ("membill", "sympy")}
    assert used <= allowed, "a spec is written with membill.spec and membill.symbols"


@pytest.mark.parametrize("path", ENGINE, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_engine_never_imports_specs(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not [name for name in imports(tree) if name.startswith("membill_specs")]
    if path.parent.name == "membill":
        outer = {"membill.render", "membill.audit", "membill.cli"}
        assert not [name for name in imports(tree) if name in outer], "render and cli import core"


HEAVY = ("membill.render", "membill.audit", "membill.cli", "membill_specs")
HEAVY_LIBRARIES = ("torch", "numpy", "mkdocs", "jinja2", "rich", "click")


def test_importing_the_engine_loads_nothing_heavy() -> None:
    run = subprocess.run(
        [sys.executable, "-c", "import membill, sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(run.stdout.split())
    assert "membill.ledger" in loaded
    assert not loaded & {*HEAVY, *HEAVY_LIBRARIES}


@pytest.mark.parametrize(("folder", "package"), [("engine", "membill"), ("specs", "membill_specs")])
def test_a_source_folder_holds_its_package_and_nothing_else(folder: str, package: str) -> None:
    assert [path.name for path in (ROOT / folder).iterdir()] == [package]


def test_no_derived_coefficient_is_typed() -> None:
    derived = re.compile(r"(?<![\w.])(34|66|19|11|37\.53|41\.03|49\.03)(?![\w.])")
    for path in (*ENGINE, *SPECS):
        if path.name == "symbols.py" or path.parent.name == "torch_reference":
            continue  # ranks of letters; sizes of random inputs
        if path == ROOT / "specs" / "membill_specs" / "published.py":
            continue  # citations: formulas as papers print them, from which nothing is derived
        source = path.read_text(encoding="utf-8")
        prose = set(docstrings(ast.parse(source)))
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.NUMBER:
                assert not derived.fullmatch(token.string), f"{path}:{token.start[0]}"
            if token.type == tokenize.STRING and token.start[0] not in prose:
                typed = re.search(r"\d+ ?\*? ?(T|L|h|s)\W?\*?(b|d|T|²|\^)", token.string)
                assert not typed, f"{path}:{token.start[0]}: {token.string}"
