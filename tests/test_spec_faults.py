"""A spec at fault: all that is wrong at once, each with file, line and op, word for word."""

from pathlib import Path

import pytest

import membill
from membill import InputError, SpecError

HEAD = """\
import sympy
from membill.spec import Declared, Tensor, choice, layer, needs, op, scope, weight
from membill.symbols import T, b, d, d_k, d_ff, h
from membill_specs.ops import add, gelu, linear
LEAK = []
"""
FOREIGN = (
    "this d was made by sympy.Symbol and differs from membill.symbols.d, a positive integer: "
    "import it from membill.symbols"
)


def written(folder: Path, body: str, name: str = "mine.py") -> Path:
    path = folder / name
    path.write_text(HEAD + body, encoding="utf-8")
    return path


def line_of(path: Path, text: str) -> int:
    return path.read_text(encoding="utf-8").splitlines().index(text) + 1


def problems(path: Path, name: str = "") -> list[str]:
    """The problems that deriving the file's layer reports, without the file's folder."""
    with pytest.raises(SpecError) as caught:
        membill.layer(f"{path}{name}").activations()
    assert all(problem.location.startswith(f"{path}:") for problem in caught.value.problems)
    lines = str(caught.value).split("\n  ")[1:]
    assert lines == [str(problem) for problem in caught.value.problems]
    return [line.replace(f"{path.parent}/", "") for line in lines]


MANY = """
@op
def stranger(x):
    return x.like(), {x: needs(LEAK[0], tex="a")}

@op
def misdirected(x):
    return x.like(), {LEAK[0]: needs(x, tex="a")}

@op
def bare(x):
    return x.like()

@op
def listed(x):
    return x.like(), [x]

@op
def plain(x):
    return x.like(), {x: x}

@op
def empty(x):
    return None, {}

@op
def stringy(x):
    return x.like(), {x: needs("x", tex="a")}

@layer("many")
def many(x):
    LEAK[:] = [x]
    y = gelu(x)
    with scope("mlp"):
        y = linear(y, 2.5 * d, name="up")
        y = linear(y, sympy.Symbol("d"), name="down")
        y = linear(y, 0)
        y = linear(y, "d")
        y = linear(y, d, name="a b")
        stranger(y)
        misdirected(y)
        bare(y)
        listed(y)
        plain(y)
        empty(y)
        stringy(y)
    return add(y, lineer)
"""


def test_all_faults_are_reported_at_once(tmp_path: Path) -> None:
    path = written(tmp_path, MANY)

    def at(text: str) -> str:
        return f"mine.py:{line_of(path, text)}"

    def op(name: str) -> str:
        return f"mine.py:{line_of(path, f'def {name}(x):') - 1}"

    assert problems(path) == [
        f'{at("""        y = linear(y, 2.5 * d, name="up")""")} (at mlp.up): '
        "axis 2.5*d holds a float; write it with integers",
        f'{at("""        y = linear(y, sympy.Symbol("d"), name="down")""")} (at mlp.down): '
        f"{FOREIGN}",
        f"{at('        y = linear(y, 0)')} (at mlp.linear): axis 0 is not a positive integer",
        f'{at("""        y = linear(y, "d")""")} (at mlp.linear_2): '
        "axis 'd' is a str; give an integer or an expression over membill.symbols",
        f'{at("""        y = linear(y, d, name="a b")""")} (at mlp.a b): '
        "name 'a b': an op's name is an identifier",
        f"{op('stranger')} (at mlp.stranger): the gradient of gelu needs x, which is neither an "
        "input of this op nor made by it",
        f"{op('misdirected')} (at mlp.misdirected): declares a gradient for the tensor x, neither "
        "an input nor a weight of it",
        f"{op('bare')} (at mlp.bare): an op returns (output, {{input: needs(...)}}), not the "
        "tensor mlp.bare",
        f"{op('listed')} (at mlp.listed): an op's gradients are {{input: needs(...)}}, not a list",
        f"{op('plain')} (at mlp.plain): the gradient of gelu is the tensor gelu, not needs(...)",
        f"{op('empty')} (at mlp.empty): an op's output is a tensor, not None",
        f"{at('        stringy(y)')} (at mlp.stringy): needs(...) takes tensors, not 'x'",
        f"{at('    return add(y, lineer)')}: NameError: name 'lineer' is not defined. "
        "Did you mean 'linear'?",
    ]


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        ("    gelu(x)", -1, "a layer returns its output tensor, not None"),
        ("    return x, x", -1, "a layer returns its output tensor, not a tuple"),
        (
            "    return x.lik()",
            1,
            "AttributeError: 'Tensor' object has no attribute 'lik'. Did you mean 'like'?",
        ),
        (
            "    return gelu()",
            1,
            "TypeError: gelu() missing 1 required positional argument: 'x'",
        ),
        (
            "    with scope('a b'): return gelu(x)",
            1,
            "scope 'a b': a scope's name is an identifier",
        ),
    ],
)
def test_fault_of_a_layer(body: str, line: int, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, f'@layer("mine")\ndef mine(x):\n{body}\n')
    at = line_of(path, "def mine(x):") + line
    assert problems(path) == [f"mine.py:{at}: {message}"]


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        ("def broken(:\n", 1, "SyntaxError: invalid syntax"),
        ("from membill.spec import leyer\n", 1, "ImportError: cannot import name 'leyer'"),
        ("x = gelu\ny = gleu\n", 2, "NameError: name 'gleu' is not defined. Did you mean 'gelu'?"),
        ("scope('a').__enter__()\n", 1, "scope(...) only works inside a layer, while it is traced"),
        ("weight('w', d)\n", 1, "weight(...) only works inside a layer, while it is traced"),
        (
            "@layer('mine')\ndef mine(x, *, core=gelu): ...\n",
            1,
            "layer 'mine': the default of core is <function gelu",
        ),
        (
            "@layer('mine')\ndef mine(x, *, core): ...\n",
            1,
            "layer 'mine': the default of core is missing; an option is a bool or a function "
            "registered with @choice",
        ),
        (
            "@layer('mine', where={d_k: d / 2.0})\ndef mine(x): ...\n",
            1,
            "layer 'mine': d_k = 0.5*d holds a float; write it with integers",
        ),
        (
            "@layer('mine', where={d_ff: 4 * d_k, d_k: d / h})\ndef mine(x): ...\n",
            1,
            "layer 'mine': d_ff = 4*d_k mentions d_k, which `where` defines as well; put that "
            "first",
        ),
    ],
)
def test_file_that_cannot_be_run(body: str, line: int, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, body)
    [problem] = problems(path)
    at = HEAD.count("\n") + line
    assert problem.startswith(f"mine.py:{at}: {message}")


def test_files_that_hold_no_layer_or_none_of_that_name(tmp_path: Path) -> None:
    empty = written(tmp_path, "", "empty.py")
    two = written(
        tmp_path,
        '@layer("one")\ndef one(x): return gelu(x)\n@layer("two")\ndef two(x): return gelu(x)\n',
        "two.py",
    )
    for name, message in {
        f"{empty}": f"{empty} defines no layer: decorate a function with @layer",
        f"{two}": f"{two} holds several layers; name one: {two}:one",
        f"{two}:thre": "unknown layer 'thre'. Did you mean 'three'? Known: one, two",
        f"{tmp_path}/none.py": f"no spec file at {tmp_path}/none.py",
    }.items():
        with pytest.raises(InputError) as caught:
            membill.layer(name)
        assert str(caught.value) == message.replace(" Did you mean 'three'?", "")
    assert str(membill.layer(f"{two}:two").activations()) == "2Tbd"


def test_a_folder_may_have_py_in_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "my.python"
    folder.mkdir()
    path = written(folder, '@layer("one")\ndef one(x): return gelu(x)\n')
    assert membill.layer(str(path)).name == "one"
    assert membill.layer(f"{path}:one").name == "one"


def test_a_file_is_read_again_and_its_choices_stay_its_own(tmp_path: Path) -> None:
    body = (
        '@choice("act", "gelu")\ndef one(x): return gelu(x)\n'
        '@choice("act", "twice")\ndef two(x): return gelu(gelu(x))\n'
        '@layer("mine")\ndef mine(x, *, act=one): return act(x)\n'
    )
    path = written(tmp_path, body)
    before = membill.layer(str(path))
    path.write_text("# a line more\n" + path.read_text("utf-8"), encoding="utf-8")
    after = membill.layer(str(path), act="twice")
    assert (str(before.activations()), str(after.activations())) == ("2Tbd", "4Tbd")


def test_installed_alternatives_serve_a_file_of_the_users(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "from membill_specs.blocks import eager_attention\n"
        "from membill_specs.ops import linear\n"
        "@choice('attention', 'mine')\ndef own(q, k, v, drop): return v\n"
        "@layer('mine')\n"
        "def mine(x, *, attention=eager_attention):\n"
        "    return attention(*(linear(x, h, d_k, name=n) for n in 'qkv'), lambda p: p)\n",
    )
    values = membill.layer(str(path)).options[0].values
    assert {"mine", "eager", "flash"} <= set(values)
    assert "mine" not in membill.layer("gpt").options[0].values
    assert str(membill.layer(str(path), attention="mine").activations()) == "2Tbd"


def test_paths_of_ops_are_unique_whatever_they_are_called(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "@layer('mine')\ndef mine(x):\n"
        "    for name in ('x', 'x_2', 'x', 'x'):\n"
        "        x = gelu(x, name=name)\n"
        "    return x\n",
    )
    paths = [op.path for op in membill.layer(str(path)).graph().ops]
    assert paths == ["x", "x_2", "x_3", "x_4"]
