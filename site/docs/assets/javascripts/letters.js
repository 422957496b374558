// What the letters of a formula mean: beside the letter, under the mouse or a finger; and as a list
// beneath the formula, by its button, which the keyboard reaches. `letters` is reference/letters.js.

(() => {
  const SYMBOLS = new URL("../../reference/symbols.html", document.currentScript.src);

  // A letter with its index is one symbol, whatever its power.
  function symbolAt(node) {
    const at = node.closest?.("math.letters mi, var");
    if (!at) return null;
    const whole = at.closest("msub, msubsup") ?? at;
    const base = whole.localName === "msubsup" ? [...whole.children].slice(0, 2) : [whole];
    const known = letters[base.map((part) => part.textContent.trim()).join("")];
    return known && { element: whole, name: known[0], meaning: known[1] };
  }

  function tip() {
    let box = document.getElementById("letter");
    if (!box) {
      box = Object.assign(document.createElement("div"), { id: "letter", hidden: true });
      box.setAttribute("role", "tooltip");
      document.body.append(box);
    }
    return box;
  }

  function show(symbol) {
    const box = tip();
    box.hidden = !symbol;
    if (!symbol) return;
    box.textContent = `${symbol.name}: ${symbol.meaning}`;
    const letter = symbol.element.getBoundingClientRect();
    const own = box.getBoundingClientRect();
    const most = document.documentElement.clientWidth - own.width - 8;
    const above = letter.top - own.height - 6;
    box.style.left = `${Math.max(8, Math.min(letter.left, most))}px`;
    box.style.top = `${above > 0 ? above : letter.bottom + 6}px`;
  }

  function listOf(figure) {
    const found = new Map();
    for (const element of figure.querySelectorAll("math.letters mi")) {
      const symbol = symbolAt(element);
      if (symbol) found.set(symbol.name, symbol);
    }
    const list = Object.assign(document.createElement("ul"), { className: "letter-list" });
    for (const { name, meaning } of found.values()) {
      const link = Object.assign(document.createElement("a"), { href: `${SYMBOLS}#${name}` });
      link.textContent = name;
      const item = document.createElement("li");
      item.append(link, `: ${meaning}`);
      list.append(item);
    }
    return list;
  }

  document.addEventListener("pointerover", (event) => show(symbolAt(event.target)));
  document.addEventListener("scroll", () => show(null), { passive: true, capture: true });
  document.addEventListener("keydown", (event) => event.key === "Escape" && show(null));
  document.addEventListener("click", (event) => {
    show(symbolAt(event.target));
    const button = event.target.closest("button.explain");
    if (!button) return;
    const figure = button.closest("figure");
    const open = figure.querySelector(".letter-list");
    if (open) open.remove();
    else figure.append(listOf(figure));
    button.setAttribute("aria-expanded", String(!open));
  });
})();
