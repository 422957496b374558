// A formula on the page as LaTeX, as Python and as plain text: read off its MathML, so that a page
// need not hold each formula four times. `letters` is reference/letters.js.
"use strict";

const formulas = (() => {
  const text = (node) => node.textContent.trim();
  const spaced = (words) => words.replaceAll("\u00a0", " ");
  const leaf = (node) => ["mi", "mn", "mo"].includes(node.localName);

  /** What stands in a row, whatever groups it is nested in. */
  const row = (node) =>
    [...node.children].flatMap((each) =>
      ["mrow", "mstyle", "math"].includes(each.localName) ? row(each) : [each],
    );

  /** A symbol's name and meaning: a letter with its index is one symbol, whatever its power. */
  const symbol = (...nodes) => letters[nodes.map(text).join("")];

  const NAMED = {
    "−": "-", "·": "\\cdot", "∣": "\\mid", "⊙": "\\odot", "⊤": "\\top", "∑": "\\sum", "′": "'",
    "⌊": "\\lfloor", "⌋": "\\rfloor", "⌈": "\\lceil", "⌉": "\\rceil", "⟨": "\\langle",
    "⟩": "\\rangle", "≤": "\\le", "≥": "\\ge", "∈": "\\in", "×": "\\times", "ℓ": "\\ell",
    β: "\\beta", σ: "\\sigma", μ: "\\mu", θ: "\\theta", λ: "\\lambda", ε: "\\epsilon",
  };
  const ACCENTS = { "¯": ["\\bar", "\u0304"], "^": ["\\hat", "\u0302"] };
  const FENCES = { prefix: "\\left", postfix: "\\right" };

  function latexOf(node) {
    const [one, two, three] = [...node.children].map(latexOf);
    const below = two?.length === 1 ? two : `{${two}}`;
    switch (node.localName) {
      case "mspace": return "\\,";
      case "mtext": return `\\text{${spaced(node.textContent)}}`;
      case "mfrac": return `\\frac{${one}}{${two}}`;
      case "msqrt": return `\\sqrt{${latex(row(node))}}`;
      case "munder":
      case "msub": return `${one}_${below}`;
      case "msup": return two === "'" ? one + two : `${one}^{${two}}`;
      case "munderover":
      case "msubsup": return `${one}_${below}^{${three}}`;
      case "mover": return `${ACCENTS[text(node.lastChild)]?.[0] ?? "\\overset"}{${one}}`;
    }
    if (!leaf(node)) return latex(row(node));
    const word = text(node);
    const plain = node.localName === "mo" ? `\\${word}` : `\\mathrm{${word}}`;
    const written = NAMED[word] ?? (/^[A-Za-z]{2,}$/.test(word) ? plain : word);
    return node.getAttribute("fence") ? FENCES[node.getAttribute("form")] + written : written;
  }

  const latex = (nodes) => nodes.map(latexOf).join(" ").trim();

  const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const enclosed = (part) => (/^\p{L}[a-z]*$|^\P{L}$/u.test(part) ? part : `(${part})`);
  const index = (one, two) => `${one}_${enclosed(two)}`;
  const power = (one, two) => {
    const small = two.replace(/\d/g, (digit) => RAISED[digit]);
    return one + (/^(\d+|′)$/.test(two) ? small : `^${enclosed(two)}`);
  };
  const single = (part) => /^\P{N}\p{M}*[⁰¹²³⁴-⁹]*$/u.test(part);
  const over = (part) => (/ [-+] /.test(part.replace(/\([^()]*\)/g, "")) ? `(${part})` : part);
  const under = (part) =>
    single(part) || /^(\d+|\P{N}_\w+|\(.*)$/u.test(part) ? part : `(${part})`;

  function plainOf(node) {
    const [one, two, three] = [...node.children].map(plainOf);
    switch (node.localName) {
      case "mtext": return spaced(node.textContent);
      case "mfrac": return `${over(one)}/${under(two)}`;
      case "msqrt": return `√${under(plain(row(node)))}`;
      case "munder":
      case "msub": return index(one, two);
      case "msup": return power(one, two);
      case "munderover":
      case "msubsup": return power(index(one, two), three);
      case "mover": return one + (ACCENTS[text(node.lastChild)]?.[1] ?? "");
    }
    return leaf(node) ? text(node).replace("−", "-") : plain(row(node));
  }

  /** `34Tbd`, with a dot beside any factor of several letters: `4Tb·n_kv·d`. */
  function plain(nodes) {
    let written = "";
    let left = ""; // the factor before, if one is
    let apart = false;
    for (const node of nodes) {
      const part = plainOf(node);
      const opens = /^([([⌊⌈⟨]|min|max)$/.test(part);
      const sign = node.localName === "mo" || node.localName === "mtext";
      if (node.localName === "mspace") {
        apart = true;
        continue;
      }
      if (part.startsWith("∑")) {
        written += part.length > 1 ? `${part} ` : part;
        left = "";
      } else if (sign && !opens) {
        const relates = left && /^[-+=∣≤≥<>∈⊙]$/.test(part);
        written += relates ? ` ${part} ` : part.replace(",", ", ");
        left = /^[)\]⌋⌉⟩]$/.test(part) ? "()" : "";
      } else {
        const called = part === "(" && /^[a-z]{2,}′?$/.test(left);
        const tight = single(part) && !opens && (single(left) || /^\d+$/.test(left));
        written += left && !called && (apart || !tight) ? `·${part}` : part;
        left = opens ? "" : part;
      }
      apart = false;
    }
    return written.trim();
  }

  /** The pieces of a formula as one row, without a relation before it or a comma behind. */
  function nodesOf(formula) {
    const pieces = formula.localName === "math" ? [formula] : formula.querySelectorAll("math");
    const nodes = [...pieces].flatMap(row);
    if (nodes.length && text(nodes.at(-1)) === ",") nodes.pop();
    return nodes.length && text(nodes[0]) === "=" ? nodes.slice(1) : nodes;
  }

  const isLone = (nodes) => nodes.length < 2 && /^(mi|mn|mo|msub|mtext)$/.test(nodes[0]?.localName);

  /** A formula, be it a sum in several pieces, by notation; nothing of a lone letter. */
  function notations(formula) {
    const nodes = nodesOf(formula);
    if (!nodes.length || isLone(nodes)) return {};
    const code = python.of(nodes);
    return { LaTeX: latex(nodes), ...(code && { Python: code }), Text: plain(nodes) };
  }

  return { row, symbol, notations, text };
})();
