// A formula of symbols, read off its MathML, as Python that gives the same int for the same ints:
// terms that are not whole by themselves are brought over one denominator, as the engine does it.
"use strict";

const python = (() => {
  const CLOSES = { "(": ")", "⌊": "⌋", "⌈": "⌉" };

  class Unwritable extends Error {}

  const gcd = (one, other) => (other ? gcd(other, one % other) : one);
  const isWhole = (term) => term.below === 1n && [...term.powers.values()].every((n) => n > 0);
  const plus = (written) => written.join(" + ").replaceAll("+ -", "- ");

  function times(term, base, power) {
    term.powers.set(base, (term.powers.get(base) ?? 0) + power);
  }

  function product({ number, powers }) {
    const factors = [...powers].filter(([, power]) => power > 0);
    const written = factors.map(([base, power]) => (power > 1 ? `${base}**${power}` : base));
    const count = number < 0n ? -number : number;
    if (count !== 1n || !written.length) written.unshift(String(count));
    return (number < 0n ? "-" : "") + written.join("*");
  }

  /** Terms over their least common denominator: what is above, and the one term below. */
  function quotient(terms) {
    const below = { number: 1n, below: 1n, powers: new Map() };
    for (const term of terms) {
      below.number *= term.below / gcd(below.number, term.below);
      for (const [base, power] of term.powers) {
        if (-power > (below.powers.get(base) ?? 0)) below.powers.set(base, -power);
      }
    }
    const above = terms.map((term) => {
      const powers = new Map(term.powers);
      for (const [base, power] of below.powers) powers.set(base, (powers.get(base) ?? 0) + power);
      return { number: (term.number * below.number) / term.below, below: 1n, powers };
    });
    return [above, below];
  }

  function divided(above, below) {
    const [left, right] = [plus(above.map(product)), product(below)];
    const enclosed = (written, marks) => (marks.test(written) ? `(${written})` : written);
    return `${enclosed(left, / /)}//${enclosed(right, /[ *]/)}`;
  }

  function sum(terms) {
    const split = terms.filter((term) => !isWhole(term));
    const written = terms.filter(isWhole).map(product);
    return plus(split.length ? [...written, divided(...quotient(split))] : written);
  }

  /** A sum that is a factor or an argument, where a division within would be rounded. */
  function whole(terms) {
    if (!terms.every(isWhole)) throw new Unwritable();
    return sum(terms);
  }

  function rounded(terms, up) {
    const [above, below] = quotient(terms);
    const one = { number: -1n, below: 1n, powers: new Map() };
    return `(${divided(up ? [...above, below, one] : above, below)})`;
  }

  function multiply(term, node, power) {
    const [one, two, three] = node.children;
    const word = formulas.text(node);
    const known = formulas.symbol(node);
    if (node.localName === "mfrac") {
      multiply(term, one, power);
      multiply(term, two, -power);
    } else if (node.localName === "mn" && /^\d+$/.test(word)) {
      const number = BigInt(word) ** BigInt(Math.abs(power));
      if (power > 0) term.number *= number;
      else term.below *= number;
    } else if (node.localName === "msup" && /^\d+$/.test(formulas.text(two))) {
      multiply(term, one, power * Number(formulas.text(two)));
    } else if (node.localName === "msubsup" && /^\d+$/.test(formulas.text(three))) {
      times(term, named(formulas.symbol(one, two)), power * Number(formulas.text(three)));
    } else if (node.localName === "mrow") {
      group(term, read(formulas.row(node)), power);
    } else times(term, named(["mi", "msub"].includes(node.localName) && known), power);
  }

  function named(known) {
    if (!known) throw new Unwritable();
    return known[0];
  }

  /** A product within is taken apart; a sum is one factor. */
  function group(term, terms, power) {
    const [only, ...others] = terms;
    if (others.length) return times(term, `(${whole(terms)})`, power);
    term.number *= power > 0 ? only.number : only.below * (only.number < 0n ? -1n : 1n);
    term.below *= power > 0 ? only.below : only.number < 0n ? -only.number : only.number;
    for (const [base, own] of only.powers) times(term, base, own * power);
  }

  /** Where what is opened at a place is closed. */
  function end(nodes, from) {
    let depth = 0;
    for (let at = from; at < nodes.length; at += 1) {
      const word = formulas.text(nodes[at]);
      if (word in CLOSES) depth += 1;
      if (Object.values(CLOSES).includes(word)) depth -= 1;
      if (!depth) return at;
    }
    throw new Unwritable();
  }

  /** Rows between the nodes that are one of some signs. */
  function parted(nodes, sign) {
    const rows = [[]];
    for (const node of nodes) {
      if (formulas.text(node) === sign) rows.push([]);
      else rows.at(-1).push(node);
    }
    return rows;
  }

  /** A row as terms: a number over a number, and powers of what is written in Python. */
  function read(nodes) {
    const terms = [];
    let term = null;
    let sign = 1n;
    for (let at = 0; at < nodes.length; at += 1) {
      const word = formulas.text(nodes[at]);
      if (word === "+" || word === "−") {
        term = null;
        sign = word === "+" ? 1n : -1n;
        continue;
      }
      if (word === "" || word === "·") continue;
      if (!term) terms.push((term = { number: sign, below: 1n, powers: new Map() }));
      const call = word === "min" || word === "max";
      const from = call ? at + 1 : at;
      if (!call && !(word in CLOSES)) {
        multiply(term, nodes[at], 1);
        continue;
      }
      at = end(nodes, from);
      const inside = nodes.slice(from + 1, at);
      if (call) {
        const given = parted(inside, ",").map((each) => whole(read(each)));
        times(term, `${word}(${given.join(", ")})`, 1);
      } else if (word === "(") group(term, read(inside), 1);
      else times(term, rounded(read(inside), word === "⌈"), 1);
    }
    if (!terms.length) throw new Unwritable();
    return terms;
  }

  const enclosed = (written) => (/^\w+$/.test(written) ? written : `(${written})`);

  /** The source, or nothing where what is displayed does not say how to compute it. */
  function of(nodes) {
    try {
      const sides = parted(nodes, "=").map((each) => parted(each, "∣").map((s) => sum(read(s))));
      const [[left, right], more] = sides;
      if (right && !more) return `${enclosed(right)} % ${enclosed(left)} == 0`;
      const sign = /^\w+$/.test(left) && !/^\d/.test(left) ? " = " : " == ";
      return sides.length < 3 && sides.every((side) => side.length < 2) ? sides.join(sign) : "";
    } catch (error) {
      if (error instanceof Unwritable) return "";
      throw error;
    }
  }

  return { of };
})();
