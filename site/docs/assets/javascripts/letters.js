// What the letters of a formula mean, beside the letter under the mouse or a finger, and as a list
// beneath a box; and a formula that is clicked in the notations that it can be copied in. From a
// table that has the focus, Enter goes to its first formula, and the arrows from one to the next.
// `letters` is reference/letters.js.

(() => {
  const HERE = document.currentScript.src;
  const SYMBOLS = new URL("../../reference/symbols.html", HERE);
  const COPYING = ["python.js", "formulas.js"]; // which come when they are first used
  const BOX = "figure.formula"; // which has buttons of its own
  let held = null; // the formula whose popup stays, where in it, and what had the focus before

  let loading = null;
  function loaded() {
    loading ??= Promise.all(
      COPYING.map((name) => {
        const script = Object.assign(document.createElement("script"), { async: false });
        script.src = new URL(name, HERE);
        document.head.append(script);
        return new Promise((done) => script.addEventListener("load", done));
      }),
    );
    return loading;
  }

  function symbolAt(node) {
    const at = node.closest?.("math.letters mi, var");
    if (!at) return null;
    const whole = at.closest("msub, msubsup") ?? at;
    const base = whole.localName === "msubsup" ? [...whole.children].slice(0, 2) : [whole];
    const known = letters[base.map((part) => part.textContent.trim()).join("")];
    return known && { element: whole, name: known[0], meaning: known[1] };
  }

  /** The formula that a click on a node would copy: a sum is one, but no letter by itself. */
  function formulaAt(node) {
    const math = node.closest?.("math");
    if (!math || math.closest(`${BOX}, a, button`)) return null;
    const formula = math.closest(".sum") ?? math;
    const letter = formula.querySelector("msub, mi")?.textContent.trim();
    return letter && letter !== formula.textContent.trim() ? formula : null;
  }

  function linkTo(name, textContent) {
    const href = `${SYMBOLS}#${name}`;
    return Object.assign(document.createElement("a"), { href, textContent });
  }

  function popup() {
    let box = document.getElementById("letter");
    if (!box) {
      box = Object.assign(document.createElement("div"), { id: "letter", hidden: true });
      box.innerHTML = '<div role="tooltip"></div><div role="group"></div>';
      document.body.append(box);
    }
    return box;
  }

  function place(box, element) {
    box.hidden = false;
    const letter = element.getBoundingClientRect();
    const own = box.getBoundingClientRect();
    const most = document.documentElement.clientWidth - own.width - 8;
    const above = letter.top - own.height - 6;
    box.style.left = `${Math.max(8, Math.min(letter.left, most))}px`;
    box.style.top = `${above > 0 ? above : letter.bottom + 6}px`;
  }

  function fill(symbol, formula) {
    const box = popup();
    const [meaning, copies] = box.children;
    meaning.textContent = symbol ? `${symbol.name}: ${symbol.meaning}` : "";
    meaning.hidden = !symbol;
    copies.replaceChildren();
    copies.hidden = !formula;
    return [box, copies];
  }

  function hide() {
    const box = popup();
    const inside = box.contains(document.activeElement);
    box.hidden = true;
    held?.formula.classList.remove("held");
    if (inside) held?.before.focus({ preventScroll: true });
    held = null;
  }

  function hover(node) {
    if (held) return;
    const symbol = symbolAt(node);
    if (!symbol) return hide();
    const formula = formulaAt(node);
    const [box, copies] = fill(symbol, formula);
    if (formula) copies.textContent = "Click to copy the formula";
    place(box, symbol.element);
  }

  async function hold(formula, at, before) {
    await loaded();
    hide();
    const symbol = symbolAt(at);
    const [box, copies] = fill(symbol, formula);
    const written = formulas.notations(formula);
    copies.setAttribute("aria-label", `Copy ${written.Text}`);
    for (const [name, text] of Object.entries(written)) {
      const button = Object.assign(document.createElement("button"), { type: "button" });
      button.className = "copy";
      button.dataset.copy = text;
      button.textContent = name;
      button.setAttribute("aria-label", `Copy as ${name === "Text" ? "plain text" : name}`);
      copies.append(button);
    }
    if (symbol) copies.append(linkTo(symbol.name, `Where ${symbol.name} appears`));
    formula.classList.add("held");
    held = { formula, at: symbol?.element ?? at.closest("math"), before };
    place(box, held.at);
    copies.firstChild.focus({ preventScroll: true });
  }

  /** From a formula, or from a table, to the next one or the one before. */
  function step(from, back, before) {
    const every = [...document.querySelectorAll("math")].filter((math) => {
      return math.checkVisibility() && !math.matches(".sum math + math");
    });
    if (back) every.reverse();
    const side = back ? Node.DOCUMENT_POSITION_PRECEDING : Node.DOCUMENT_POSITION_FOLLOWING;
    const next = every.find((math) => {
      const where = from.compareDocumentPosition(math);
      const within = from.contains(math) && from !== held?.formula;
      return (within || (where & side && !from.contains(math))) && formulaAt(math);
    });
    if (!next) return;
    next.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
    hold(formulaAt(next), next, before);
  }

  function listOf(figure) {
    const found = new Map();
    for (const element of figure.querySelectorAll("math.letters mi")) {
      const symbol = symbolAt(element);
      if (symbol) found.set(symbol.name, symbol);
    }
    const list = Object.assign(document.createElement("ul"), { className: "letter-list" });
    for (const { name, meaning } of found.values()) {
      const item = document.createElement("li");
      item.append(linkTo(name, name), `: ${meaning}`);
      list.append(item);
    }
    return list;
  }

  function explain(button) {
    const figure = button.closest("figure");
    const open = figure.querySelector(".letter-list");
    if (open) open.remove();
    else figure.append(listOf(figure));
    button.setAttribute("aria-expanded", String(!open));
  }

  document.addEventListener("pointerover", (event) => hover(event.target));
  document.addEventListener("scroll", () => (held ? place(popup(), held.at) : hide()), {
    passive: true,
    capture: true,
  });
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (key === "Escape") hide();
    if (key === "Enter" && target.matches(".scroll")) step(target, false, target);
    if (!held || !popup().contains(target) || !/^Arrow(Left|Right)$/.test(key)) return;
    event.preventDefault();
    step(held.formula, key === "ArrowLeft", held.before);
  });
  document.addEventListener("click", ({ target }) => {
    if (popup().contains(target)) return;
    const before = document.activeElement;
    const formula = getSelection().isCollapsed && formulaAt(target);
    hide();
    if (formula) hold(formula, target, before);
    else hover(target);
    const button = target.closest("button.explain");
    if (button) explain(button);
  });

  document$.subscribe(hide);
})();
