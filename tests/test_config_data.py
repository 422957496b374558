"""The configurations as JSON say all that reading takes: here without the engine."""

import json
from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from config_facts import MODELS, VARIED, fact

from membill.config import configurations_data
from membill.config_reading import shape_of

DATA = configurations_data()


def evaluated(expression: Any, sizes: Mapping[str, int]) -> int:
    """An expression, as a script that has no SymPy works it out."""
    if isinstance(expression, int):
        return expression
    if isinstance(expression, str):
        return sizes[expression]
    parts = [evaluated(part, sizes) for part in expression[1:]]
    signs: dict[str, Callable[[list[int]], int]] = {
        "+": sum,
        "*": prod,
        "/": lambda two: two[0] // two[1],
    }
    return signs[expression[0]](parts)


def held(config: Mapping[str, Any], key: str) -> Any:
    """The value at a key, None where there is none."""
    value: Any = config
    for part in key.split("."):
        value = (value or {}).get(part)
    return value


def interpreted(config: Mapping[str, Any]) -> tuple[str, dict[str, int], dict[str, Any]]:
    """Architecture, dimensions and options of a valid config from the exported data alone."""
    spec = next(
        spec
        for spec in DATA["configurations"][config["model_type"]]
        if all(config.get(key, "") in values for key, values in spec["when"].items())
        and all(config.get(key) is not None for key in spec["given"])
    )
    cls = next(c for c in spec["classes"] if c in config.get("architectures", spec["classes"]))
    sizes: dict[str, int] = {}
    for item in spec["fields"]:
        if item.get("only", cls) != cls:
            continue
        value = next((held(config, key) for key in item["keys"] if held(config, key)), None)
        if item.get("entries") and isinstance(value, (list, dict)):
            value = len(value)
        if not any(key in config for key in item["keys"]) and "absent" in item:
            value = evaluated(item["absent"], sizes)
        elif value is None and "default" in item:
            value = evaluated(item["default"], sizes)
        elif "share" in item:
            value = int(value * evaluated(item["share"], sizes))
        elif "flag" in item:
            value = evaluated(item["flag"][0 if value else 1], sizes)
        elif value is not None:
            value *= evaluated(item.get("times", 1), sizes)
        if value is not None:
            sizes[item["symbol"]] = value
    options = dict(spec["classes"][cls])
    for name, setting in spec["options"].items():
        value = config.get(setting["key"], setting["absent"])
        options[name] = next(
            to for of, to in setting["values"] if (type(of), of) == (type(value), value)
        )
    helpers = {item["symbol"] for item in spec["fields"] if item.get("helper")}
    return (
        spec["architecture"],
        {symbol: size for symbol, size in sizes.items() if symbol not in helpers},
        {name: value for name, value in options.items() if value != spec["usual"][name]},
    )


def test_the_exported_data_are_json_and_all_that_reading_takes() -> None:
    assert json.loads(json.dumps(DATA)) == DATA
    sparse = fact("llama-3-8b")
    del sparse["head_dim"], sparse["num_key_value_heads"]
    heads = DATA["configurations"]["bert"][0]["classes"]
    bert = ({**fact("bert-base"), "architectures": [name]} for name in heads)
    for config in (*map(fact, MODELS), *VARIED.values(), sparse, *bert):
        shape = shape_of(config, "a", "b")
        assert interpreted(config) == (shape.architecture, dict(shape), dict(shape.options))
