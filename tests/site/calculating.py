"""Settings for the calculator: drawn by chance, as an address, and as the engine answers them."""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from browsing import WIDE, opened

import membill
from membill import InputError, registry
from membill.recipe import Recipe
from membill.tables import spelled
from membill.units import size

OFFERED = ("attention", "loss")
PAGE = "reference/calculator.html"


@dataclass(frozen=True)
class Asked:
    """What is asked for: `settings` are those of `Model.peak`, b, T and dimensions among them."""

    model: str
    options: dict[str, Any]
    settings: dict[str, Any]
    memory: str = "80GB"
    resized: dict[str, int] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """The link that asks the page for it."""
        fields = {"model": self.model}
        fields |= {f"option-{name}": spelled(value) for name, value in self.options.items()}
        fields |= {f"dim-{name}": str(value) for name, value in self.resized.items()}
        fields |= {name: spelled(value) for name, value in self.settings.items()}
        number, unit = re.fullmatch(r"(\d+)(\w+)", self.memory).groups()  # type: ignore[union-attr]
        return f"#{urlencode(fields | {'memory': number, 'unit': unit})}"

    def answer(self) -> dict[str, Any] | None:
        """What the engine says, as `shown` reads it off the page; None if it refuses."""
        model = membill.model(self.model, **self.options)
        every = {**(model.shape if self.resized else {}), **self.resized, **self.settings}
        try:
            peak = model.peak(**every)
            event, needed = peak.event, peak.bytes
        except InputError:
            return None
        bill = peak.bill
        sizes = {name: bill.size(formula) for name, formula in event.categories.items()}
        most = {
            name: model.solve(
                name,
                memory=size(self.memory, "memory"),
                **{other: value for other, value in every.items() if other != name},
            ).value
            for name in ("b", "T")
        }
        return {
            **{name: bill.size(formula) for name, formula in bill.categories.items()},
            "total": bill.bytes,
            "peak": {**{name: size for name, size in sizes.items() if size}, "peak": needed},
            "event": event.name,
            "parameters": bill.size(bill.parameters),
            **most,
        }


def drawn(seed: int, number: int) -> list[Asked]:
    """So many settings, over all models in turn."""
    chance = random.Random(seed)
    models = list(registry.known().shapes)
    return [_drawn(chance, models[at % len(models)]) for at in range(number)]


def _drawn(chance: random.Random, name: str) -> Asked:
    model, pick = membill.model(name), chance.choice
    known = {option.name: option for part in model.parts for option in part.layer.options}
    options = {each: pick(list(known[each].values)) for each in OFFERED if each in known}
    settings: dict[str, Any] = {
        "b": pick([1, 2, 3, 8]),
        "T": pick([128, 2048, 8192, 8191]),
        "recipe": pick([each for each, spec in registry.everything(Recipe).items() if whole(spec)]),
        "recompute": pick(list(registry.known().policies)),
        "tp": pick([1, 1, 2, 4, 8]),
        "cp": pick([1, 1, 1, 2]),
        "sp": pick([True, False]),
        "dp": pick([1, 2, 8, 64]),
        "zero": pick([0, 1, 2, 3]),
    }
    schedule = pick([None, None, "1f1b", "gpipe", "zb-h1", "interleaved"])
    if schedule:
        settings |= {"schedule": schedule, "pp": pick([2, 4]), "micro_batches": pick([4, 8, 16])}
    if schedule == "interleaved":
        settings["chunks"] = 2
    if any(part.layer.name.count("moe") or name.startswith("mix") for part in model.parts):
        settings |= {"ep": pick([1, 2]), "etp": pick([1, 2])}
    return Asked(name, options, settings, pick(["24GB", "80GB", "80GiB"]), _resized(chance, model))


def whole(recipe: Recipe) -> bool:
    """Whether a recipe trains all weights of a model."""
    return len(recipe.states) > 1 and not recipe.frozen


def _resized(chance: random.Random, model: membill.Model) -> dict[str, int]:
    """Dimensions that are not the model's: a vocabulary that degrees divide, and other layers."""
    assert model.shape is not None
    found = {}
    if "V" in model.shape and chance.random() < 0.6:
        found["V"] = -(-model.shape["V"] // 64) * 64
    if chance.random() < 0.3:
        found["d"] = model.shape["d"] * 2
    if chance.random() < 0.2:
        found["L"] = 24
    return found


SHOWN = """async (address) => {
  if (location.hash !== address) {
    const done = new Promise((next) => addEventListener("hashchange", next, { once: true }));
    location.hash = address;
    await done;
  }
  const form = document.getElementById("calculator-form");
  if (form.classList.contains("refused")) {
    return { refused: form.querySelector(".verdict").textContent };
  }
  const cells = [...form.querySelectorAll("[data-exact]")];
  const peak = [...form.querySelectorAll("[data-peak]")];
  const most = [...form.querySelectorAll("[data-most]")];
  return {
    exact: Object.fromEntries(cells.map((each) => [each.dataset.exact, each.textContent])),
    peak: Object.fromEntries(peak.map((each) => [each.dataset.peak, each.textContent])),
    event: form.querySelector("[data-event]").textContent,
    most: Object.fromEntries(most.map((each) => [each.dataset.most, each.textContent])),
  };
}"""


def shown(page: Any, address: str) -> dict[str, Any] | str:
    """What the page shows for an address: numbers by name; what it says if it refuses."""
    found = page.evaluate(SHOWN, address)
    if "refused" in found:
        return str(found["refused"])
    exact, peak = (
        {name: number(text) for name, text in found[table].items()} for table in ("exact", "peak")
    )
    most = {
        name: 0 if text == "none fits" else number(text) for name, text in found["most"].items()
    }
    return {**exact, **most, "peak": peak, "event": found["event"]}


def number(text: str) -> int:
    """The number that a text begins with: 1,234 B."""
    match = re.match(r"[\d,]+", text)
    assert match, text
    return int(match[0].replace(",", ""))


def in_use(browser: Any, base: str) -> Iterator[Any]:
    """The calculator, which must ask for nothing elsewhere and complain of nothing."""
    found = opened(browser, WIDE, "light")
    found.goto(base + PAGE, wait_until="networkidle")
    yield found
    assert found.complaints == []
    asked = [url for url in found.asked if not url.startswith((base, "data:", "blob:"))]
    assert asked == [], "a request leaves the site"
    found.context.close()


def verdict(page: Any) -> str:
    """The page's answer in a sentence."""
    return str(page.inner_text(".verdict"))


def peak(page: Any) -> int:
    """The peak that the page shows."""
    return number(page.inner_text("[data-peak=peak]"))
