"""Every message to a caller of the API, word for word."""

from collections.abc import Callable

import numpy
import pytest
import sympy

import membill
from membill import InputError, registry, symbols
from membill.formula import Formula
from membill.mesh import Axis
from membill.pipeline import Schedule, stage, stages
from membill.plans import FIELDS
from membill.plans import LETTERS as PIPELINE
from membill.recipe import Partition, Recipe, divided_at, model_states
from membill.shapes import read_shape
from membill.symbols import L, T, b, beta, c, d, d_ff, d_k, h, m, p, t, v
from membill.tensor import dims

SIZE = Formula(T * b, "bytes")
GPT = membill.layer("gpt").activations()
LETTERS = ", ".join(sorted(symbols.names()))
LAYERS = ", ".join(sorted(registry.known().layers))
MODELS = ", ".join(sorted(registry.known().shapes))
CORES = ", ".join(sorted(membill.layer("gpt").options[0].values))
WIDTH = "give the bytes of an entry, an integer > 0, or a symbol"
FOREIGN = (
    "this T was made by sympy.Symbol and differs from membill.symbols.T, a positive integer: "
    "import it from membill.symbols"
)


def gpt(**options: object) -> Formula:
    return membill.layer("gpt").activations(**options)


EVALUATION = {
    lambda: SIZE(b=1): "no value for T in Tb: give it as T=...",
    lambda: GPT(b=1, d=4): "no value for T, h in 34Tbd + 5hT²b + 16Tb: give it as T=...",
    lambda: SIZE(b=1, T=8, d_kk=4): (
        f"unknown symbol 'd_kk'. Did you mean 'd_k'? Known: {LETTERS}"
    ),
    lambda: SIZE(b=1, T=0): "T = 0 is not allowed: T is an integer > 0",
    lambda: SIZE(b=-1, T=8): "b = -1 is not allowed: b is an integer > 0",
    lambda: SIZE(b=1, T=8.0): "T = 8.0 is a float; T counts, so it is an integer > 0",
    lambda: SIZE(b=1, T="8"): "T = '8' is a str; T counts, so it is an integer > 0",
    lambda: SIZE(b=True, T=8): "b = True is a bool; b counts, so it is an integer > 0",
    lambda: SIZE(b=None, T=8): "b = None is a NoneType; b counts, so it is an integer > 0",
    lambda: SIZE(b=1, T=[8]): "T = [8] is a list; T counts, so it is an integer > 0",
    lambda: SIZE(b=1, T=sympy.Symbol("T")): (
        "T = T is a Symbol; T counts, so it is an integer > 0"
    ),
    lambda: SIZE(b=1, T=sympy.Rational(1, 2)): (
        "T = 1/2 is a Half; T counts, so it is an integer > 0"
    ),
    lambda: SIZE(b=1, T=numpy.float64(8)): (
        "T = np.float64(8.0) is a float64; T counts, so it is an integer > 0"
    ),
    lambda: SIZE(b=1, T=numpy.array([8.0])): (
        "T is an array of float64; T counts, so it holds integers"
    ),
    lambda: SIZE(b=1, T=numpy.array([True])): (
        "T is an array of bool; T counts, so it holds integers"
    ),
    lambda: SIZE(b=1, T=numpy.array([8, 0])): "T = 0 is not allowed: T is an integer > 0",
    lambda: SIZE(b=1, T=numpy.array([8, 2.5], dtype=object)): (
        "T = 2.5 is a float; T counts, so it is an integer > 0"
    ),
    lambda: GPT(b=1, T=8, d=10, h=3): (
        "d_k = d/h is not a whole number at b = 1, T = 8, d = 10, h = 3"
    ),
    lambda: gpt(recompute="selective")(b=1, T=8, d=10, h=3): (
        "d_k = d/h is not a whole number at b = 1, T = 8, d = 10, h = 3"
    ),
    lambda: GPT(b=1, T=8, d=12, h=3, d_k=5): (
        "d_k = 5 contradicts d_k = d/h = 4, which this formula has put in; ask for it with "
        "specialise=False"
    ),
    lambda: GPT(b=1, T=8, d=12, h=3, d_ff=7): (
        "d_ff = 7 contradicts d_ff = 4d = 48, which this formula has put in; ask for it with "
        "specialise=False"
    ),
    lambda: Formula(T * b / h, "bytes")(b=1, T=7, h=2): (
        "Tb/h is not a whole number at b = 1, T = 7, h = 2"
    ),
    lambda: GPT.subs({h: 3})(b=1, T=8, d=10): (
        "d_k = d/3 is not a whole number at b = 1, T = 8, d = 10"
    ),
}

ALGEBRA = {
    lambda: SIZE.subs({T: 8.0}): (
        "value of T 8.0 is a float; give an integer or an expression over membill.symbols"
    ),
    lambda: SIZE.subs({T: "8"}): (
        "value of T '8' is a str; give an integer or an expression over membill.symbols"
    ),
    lambda: SIZE.subs({T: -8}): "T = -8 is not allowed: T is an integer > 0",
    lambda: SIZE.subs({"T": 8}): "'T' is not a symbol: import it from membill.symbols",
    lambda: SIZE.subs({sympy.Symbol("T"): 8}): FOREIGN,
    lambda: GPT.subs({d_k: 5}): "this formula has put in d_k = d/h, not 5",
    lambda: GPT.subs({d: 10, h: 3}): "this formula has put in d_k = 10/3, not a whole number",
    lambda: SIZE + Formula(T, "parameters"): "cannot add parameters to bytes",
    lambda: SIZE * 2.5: (
        "factor 2.5 is a float; give an integer or an expression over membill.symbols"
    ),
    lambda: SIZE * (T * 1.5): "factor 1.5*T holds a float; write it with integers",
    lambda: Formula("T*b", "bytes"): (
        "formula 'T*b' is a str; give an integer or an expression over membill.symbols"
    ),
    lambda: Formula(sympy.Symbol("T") * b, "bytes"): FOREIGN,
    lambda: Formula(sympy.Symbol("omega"), "bytes"): (
        "omega is not a symbol of Membill's: make it with symbols.define"
    ),
    lambda: symbols.define("d_model-2", "width"): (
        "symbol 'd_model-2': a symbol's name is a Python identifier"
    ),
    lambda: symbols.define("lambda", "rate"): (
        "symbol 'lambda': a symbol's name is a Python identifier"
    ),
    lambda: symbols.define("T", "temperature"): (
        "symbol 'T' already means 'tokens in a sequence (context length)', not 'temperature'"
    ),
    lambda: dims((T, 0)): "axis 0 is not a positive integer",
    lambda: dims((-T,)): "axis -T is not a positive integer",
    lambda: dims((T + sympy.Rational(1, 2),)): "axis T + 1/2 is not a positive integer",
    lambda: dims((2.5 * T,)): "axis 2.5*T holds a float; write it with integers",
    lambda: dims((3.0,)): (
        "axis 3.0 is a float; give an integer or an expression over membill.symbols"
    ),
    lambda: dims((True,)): (
        "axis True is a bool; give an integer or an expression over membill.symbols"
    ),
}

CHOICES = {
    lambda: membill.layer("gtp"): f"unknown layer 'gtp'. Did you mean 'gpt'? Known: {LAYERS}",
    lambda: membill.layer(3): "layer 3: give a layer's name or the path of a spec file",
    lambda: membill.layer("gpt", atention="flash"): (
        "unknown option 'atention' of layer 'gpt'. Did you mean 'attention'? "
        "Known: attention, dropout"
    ),
    lambda: membill.layer("gpt", attention="flsh"): (
        f"unknown attention 'flsh' of layer 'gpt'. Did you mean 'flash'? Known: {CORES}"
    ),
    lambda: membill.layer("gpt", dropout="yes"): (
        "unknown dropout 'yes' of layer 'gpt'. Known: False, True"
    ),
    lambda: membill.layer("gpt", dropout=1): (
        "unknown dropout 1 of layer 'gpt'. Known: False, True"
    ),
    lambda: membill.shape("llama-3-8"): (
        f"unknown model 'llama-3-8'. Did you mean 'llama-3-8b'? Known: {MODELS}"
    ),
    lambda: gpt(recompute="selectve"): (
        "unknown policy 'selectve'. Did you mean 'selective'? Known: full, none, selective"
    ),
    lambda: gpt(recompute=["mpl"]): (
        "unknown scope 'mpl' to recompute. Did you mean 'mlp'? "
        "Known: attention, attention.core, mlp, norms"
    ),
    lambda: gpt(recompute=["core"]): (
        "unknown scope 'core' to recompute. Known: attention, attention.core, mlp, norms"
    ),
    lambda: gpt(recompute=[]): (
        "recompute = []: give a policy's name, a predicate on ops, "
        "or a collection of these and of scope paths"
    ),
    lambda: gpt(recompute=[3]): (
        "recompute = 3: give a policy's name, a predicate on ops, "
        "or a collection of these and of scope paths"
    ),
    lambda: gpt(recompute=None): (
        "recompute = None: give a policy's name, a predicate on ops, "
        "or a collection of these and of scope paths"
    ),
    lambda: gpt(dtype_bytes=0): f"dtype_bytes = 0: {WIDTH}",
    lambda: gpt(dtype_bytes=-1): f"dtype_bytes = -1: {WIDTH}",
    lambda: gpt(dtype_bytes=2.5): f"dtype_bytes = 2.5: {WIDTH}",
    lambda: gpt(dtype_bytes=4.0): f"dtype_bytes = 4.0: {WIDTH}",
    lambda: gpt(dtype_bytes="2"): f"dtype_bytes = '2': {WIDTH}",
    lambda: gpt(dtype_bytes=True): f"dtype_bytes = True: {WIDTH}",
    lambda: gpt(dtype_bytes=sympy.Rational(1, 2)): f"dtype_bytes = 1/2: {WIDTH}",
    lambda: gpt(dtype_bytes=-beta): f"dtype_bytes = -beta: {WIDTH}",
    lambda: gpt(dtype_bytes=sympy.Symbol("T")): FOREIGN,
}

LLAMA = {"b": 1, "T": 8192, "d": 4096, "h": 32, "n_kv": 8, "d_ff": 14336}
SETTINGS = ", ".join(
    sorted(
        {*FIELDS, *PIPELINE, *registry.everything(Axis), *registry.everything(Partition)}
        | {rule.switch for rule in registry.known().rules if rule.switch}
    )
)
DEGREE = "give a degree, an integer > 0, or a symbol"


def llama(**options: object) -> Formula:
    return membill.layer("llama").activations(**options)


PLANS = {
    lambda: gpt(tp=t)(b=1, T=8, d=64, h=32, t=7): (
        "t = 7 does not divide h = 32; the plan needs t | h"
    ),
    lambda: gpt(tp=7)(b=1, T=8, d=64, h=32): "7 does not divide h = 32; the plan needs 7 | h",
    lambda: gpt(tp=t).subs({t: 7, h: 32}): "t = 7 does not divide h = 32; the plan needs t | h",
    lambda: gpt(tp=t).subs({t: 7}).subs({h: 32}): (
        "7 does not divide h = 32; the plan needs 7 | h"
    ),
    lambda: llama(tp=t)(**LLAMA, t=16): "t = 16 does not divide n_kv = 8; the plan needs t | n_kv",
    lambda: llama(tp=12)(**{**LLAMA, "h": 48, "d": 6144}): (
        "12 does not divide n_kv = 8; the plan needs 12 | n_kv or n_kv | 12"
    ),
    lambda: llama(tp=8)(**{**LLAMA, "d_ff": 14337}): (
        "8 does not divide d_ff = 14337; the plan needs 8 | d_ff"
    ),
    lambda: gpt(tp=t, sp=True, cp=c)(b=1, T=32, d=64, h=8, t=8, c=3): (
        "tc = 24 does not divide T = 32; the plan needs tc | T"
    ),
    lambda: gpt(tpp=8): (f"unknown setting 'tpp' of a plan. Did you mean 'tp'? Known: {SETTINGS}"),
    lambda: membill.plan(ssp=True): (
        f"unknown setting 'ssp' of a plan. Did you mean 'sp'? Known: {SETTINGS}"
    ),
    lambda: gpt(tp=0): f"tp = 0: {DEGREE}",
    lambda: gpt(tp=-1): f"tp = -1: {DEGREE}",
    lambda: gpt(tp=1.5): f"tp = 1.5: {DEGREE}",
    lambda: gpt(tp=1.0): f"tp = 1.0: {DEGREE}",
    lambda: gpt(tp="8"): f"tp = '8': {DEGREE}",
    lambda: gpt(tp=True): f"tp = True: {DEGREE}",
    lambda: gpt(tp=None): f"tp = None: {DEGREE}",
    lambda: gpt(tp=sympy.Symbol("t")): FOREIGN.replace("this T", "this t").replace(
        "symbols.T", "symbols.t"
    ),
    lambda: gpt(sp=1): "sp = 1: a switch is True or False",
    lambda: gpt(sp="yes"): "sp = 'yes': a switch is True or False",
    lambda: membill.plan("tp"): (
        "'tp' is not a plan: give settings by name, such as recompute=..."
    ),
    lambda: membill.layer("gpt").activations("selective"): (
        "'selective' is not a plan: give settings by name, such as recompute=..."
    ),
}

ZERO = registry.find(Partition, "zero")
MIXED = registry.find(Recipe, "adam-mixed")
RECIPES = ", ".join(sorted(registry.everything(Recipe)))
STAGES = "allowed are 0, 1, 2, 3"
MANY = "give how many, an integer > 0, or a symbol"

STATES = {
    lambda: registry.find(Recipe, "adam-mixd"): (
        f"unknown recipe 'adam-mixd'. Did you mean 'adam-mixed'? Known: {RECIPES}"
    ),
    lambda: registry.find(Recipe, 8): f"unknown recipe 8. Known: {RECIPES}",
    lambda: divided_at(ZERO, 4): f"zero = 4: {STAGES}",
    lambda: divided_at(ZERO, True): f"zero = True: {STAGES}",
    lambda: divided_at(ZERO, 1.0): f"zero = 1.0: {STAGES}",
    lambda: divided_at(ZERO, "1"): f"zero = '1': {STAGES}",
    lambda: divided_at(ZERO, [1]): f"zero = [1]: {STAGES}",
    lambda: model_states(MIXED, 0): f"parameters = 0: {MANY}",
    lambda: model_states(MIXED, 7e9): f"parameters = 7000000000.0: {MANY}",
    lambda: model_states(MIXED, "print(1)"): f"parameters = 'print(1)': {MANY}",
    lambda: model_states(MIXED, 10, devices=0): f"devices = 0: {MANY}",
    lambda: model_states(MIXED, 10, devices="8"): f"devices = '8': {MANY}",
    lambda: model_states(MIXED, 10, dtype_bytes=0): f"dtype_bytes = 0: {WIDTH}",
}

ONE_F_ONE_B = registry.find(Schedule, "1f1b")
INTERLEAVED = registry.find(Schedule, "interleaved")


def stack(layers: object, **more: object) -> object:
    return stages(ONE_F_ONE_B, SIZE, layers, **{"micro_batches": 8, **more})


PIPELINES = {
    lambda: registry.find(Schedule, "1f2b"): (
        "unknown schedule '1f2b'. Did you mean '1f1b'? Known: "
        + ", ".join(sorted(registry.everything(Schedule)))
    ),
    lambda: stack([]): "stages = []: give the number of layers on each stage",
    lambda: stack([1, 0, 2]): "stages = [1, 0, 2]: 0 is not an integer > 0",
    lambda: stack([1, -1]): "stages = [1, -1]: -1 is not an integer > 0",
    lambda: stack([1, 1.5]): "stages = [1, 1.5]: 1.5 is not an integer > 0",
    lambda: stack([1, "2"]): "stages = [1, '2']: '2' is not an integer > 0",
    lambda: stack([1, True]): "stages = [1, True]: True is not an integer > 0",
    lambda: stack([1, 1], micro_batches=0): (
        "m = 0: give micro-batches in a step, an integer > 0, or a symbol"
    ),
    lambda: stack([1, 1], micro_batches="8"): (
        "m = '8': give micro-batches in a step, an integer > 0, or a symbol"
    ),
    lambda: stack([2, 2], chunks=2): "v = 2: schedule '1f1b' has no model chunks",
    lambda: stages(INTERLEAVED, SIZE, [1, 1], micro_batches=8): (
        "v = 1: schedule 'interleaved' has two model chunks or more"
    ),
    lambda: stages(INTERLEAVED, SIZE, [2, 3], micro_batches=8, chunks=2): (
        "v = 2 does not divide 3; the plan needs v | 3"
    ),
    lambda: stages(INTERLEAVED, SIZE, [2, 2], micro_batches=5, chunks=2): (
        "p = 2 does not divide m = 5; the plan needs p | m"
    ),
    lambda: stage(ONE_F_ONE_B, SIZE, index=8, given={p: 8}): (
        "stage = 8: stages are counted from 0 to 7"
    ),
    lambda: stage(ONE_F_ONE_B, SIZE, index=-1): "stage = -1: stages are counted from 0 to p - 1",
    lambda: stage(ONE_F_ONE_B, SIZE, given={p: 8, L: 30}): (
        "p = 8 does not divide L = 30; the plan needs p | L"
    ),
    lambda: stage(INTERLEAVED, SIZE, given={p: 4, m: 8, v: 3, L: 30}): (
        "vp = 12 does not divide L = 30; the plan needs vp | L"
    ),
}


GOOD = {"title": "t", "architecture": "gpt", "source": "s"}


def model(text: str) -> Callable[[], object]:
    head = "".join(f'{key} = "{value}"\n' for key, value in GOOD.items())
    return lambda: read_shape("mine", head + text)


SHAPES = {
    lambda: read_shape("mine", 'title = "t"'): "model 'mine' needs architecture, a text",
    lambda: read_shape("mine", "title = 5"): "model 'mine' needs title, a text, not 5",
    model(""): "model 'mine' needs dims, a table of sizes",
    model("dims = 3"): "model 'mine' needs dims, a table of sizes, not 3",
    model("dim = 3"): (
        "unknown field 'dim' of model 'mine'. Did you mean 'dims'? "
        "Known: architecture, dims, options, source, title"
    ),
    model("[dims]\nd_fff = 3"): (
        f"unknown symbol 'd_fff' of model 'mine'. Did you mean 'd_ff'? Known: {LETTERS}"
    ),
    model("[dims]\nd = 3.0"): "model 'mine': d = 3.0 is not an integer > 0",
    model("[dims]\nd = true"): "model 'mine': d = True is not an integer > 0",
    model("[dims]\nd = 0"): "model 'mine': d = 0 is not an integer > 0",
}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        item
        for group in (EVALUATION, ALGEBRA, CHOICES, SHAPES, PLANS, STATES, PIPELINES)
        for item in group.items()
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_message(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value) == message


def test_a_shape_that_is_no_toml() -> None:
    with pytest.raises(InputError, match=r"^model .mine. is not TOML: Invalid value"):
        read_shape("mine", "title = ")


def test_a_string_is_never_run() -> None:
    with pytest.raises(InputError):
        Formula("print('run')", "bytes")
    with pytest.raises(InputError):
        SIZE.subs({T: "__import__('os').getpid()"})


def test_a_formula_and_a_number_do_not_add_up() -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        _ = SIZE + 3


def test_an_input_error_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="no value for T"):
        SIZE(b=1)


def test_a_whole_shape_can_be_given_though_the_formula_needs_less() -> None:
    assert SIZE(**membill.shape("llama-3-8b"), b=1, T=8) == 8
    assert Formula(d_ff * T, "bytes")(**membill.shape("llama-3-8b"), T=1) == 14336
