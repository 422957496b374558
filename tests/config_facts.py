"""The configurations that transformers 5.24's own classes write for published models.

Of labels, which they list, only the number is there.
"""

import json
from pathlib import Path
from typing import Any

FACTS = Path(__file__).parent / "facts" / "configs"
MODELS = sorted(path.stem for path in FACTS.iterdir())


def fact(name: str) -> dict[str, Any]:
    """What is in the config.json of a model."""
    found = json.loads((FACTS / f"{name}.json").read_text("utf-8"))
    assert isinstance(found, dict)
    return found


WINDOWS = {"use_sliding_window": True, "max_window_layers": 21, "layer_types": None}
VARIED = {
    "mixtral_window": {**fact("mixtral-8x7b"), "sliding_window": 4096},
    "phi3": {**fact("phi-3-mini"), "sliding_window": None},
    "qwen2_window": {**fact("qwen2.5-7b"), **WINDOWS, "sliding_window": 32768},
}
"""Models with windows that the published ones lack, and without those that they have."""
