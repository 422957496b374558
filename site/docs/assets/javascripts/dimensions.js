// The dimensions that a config.json tells, as the data of its model_type say, and what must hold of
// them; with the engine's messages.
"use strict";

(() => {
  const { Refused, json, expressions } = globalThis.membillCalculator;
  const { same, shown } = json;
  const { evaluated, text, letters, fraction } = expressions;
  const { most } = globalThis.membill.files;
  const isAmong = (value, allowed) => allowed.some((each) => same(value, each));

  /** The value at a key, whose dots lead into objects; undefined if there is none. */
  const deep = (config, key) =>
    key.split(".").reduce((at, part) => (at instanceof Map ? at.get(part) : undefined), config);

  /** What is wrong with a file, on the way: what it says, how it is read, and the sizes so far. */
  function reading(place, config, spec, kind) {
    const sizes = {};
    const get = (key) => deep(config, key);
    const wrong = (message) => new Refused("file", `${place}: ${message}`);
    const field = (symbol) => spec.fields.find((each) => each.symbol === symbol);

    /** What the file calls a symbol. */
    const called = (symbol) => {
      const { keys } = field(symbol);
      return keys.find((key) => get(key) !== undefined) ?? keys[0] ?? symbol;
    };

    /** `hidden_size = 4096, num_attention_heads = 32` of d/h; a number as it is. */
    function side(expression) {
      const used = letters(expression);
      const said = spec.fields
        .filter(({ symbol }) => used.includes(symbol))
        .map(({ symbol }) => [called(symbol), get(called(symbol)), sizes[symbol]])
        .map(([key, given, size]) => `${key} = ${given === undefined ? size : shown(given)}`);
      return said.join(", ") || text(expression);
    }

    function unsupported(key, value, allowed) {
      const choices = allowed.map(shown).join(" or ");
      return wrong(`${key} = ${shown(value)} is not supported for ${kind}: only ${choices}`);
    }

    function whole(symbol, expression) {
      const size = fraction(evaluated(expression, sizes));
      if (size !== null) return size;
      throw wrong(
        `${called(symbol)}, which is not given, is ${text(expression)}, and that is no whole ` +
          `number for ${side(expression)}`,
      );
    }

    /** What the file says by key; Refused where two keys do not agree. */
    function given({ keys, entries }) {
      const length = (each) => {
        if (entries && Array.isArray(each)) return BigInt(each.length);
        return entries && each instanceof Map ? BigInt(each.size) : each;
      };
      const found = keys
        .filter((key) => get(key) !== undefined)
        .map((key) => [key, length(get(key))]);
      for (const [key, value] of found) {
        const [first, other] = found[0];
        if (!same(value, other)) {
          throw wrong(`${key} = ${shown(value)} contradicts ${first} = ${shown(other)}`);
        }
      }
      return found;
    }

    /** The size that the value of a key stands for. */
    function told(item, key, value) {
      const { symbol, least, flag, share, times } = item;
      if (flag) {
        if (typeof value !== "boolean")
          throw wrong(`${key} = ${shown(value)} is not true or false`);
        return whole(symbol, flag[value ? 0 : 1]);
      }
      if (share) {
        const all = Number(whole(symbol, share));
        const part = ["number", "bigint"].includes(typeof value) ? Number(value) * all : NaN;
        if (!(least <= part && part <= all)) {
          throw wrong(`${key} = ${shown(value)} is not a number from ${least}/${all} to 1`);
        }
        return BigInt(Math.trunc(part));
      }
      if (typeof value !== "bigint" || value < BigInt(least) || value > BigInt(most)) {
        const limit = most.toLocaleString("en");
        throw wrong(`${key} = ${shown(value)} is not an integer from ${least} to ${limit}`);
      }
      return times ? value * whole(symbol, times) : value;
    }

    function size(item) {
      const found = given(item);
      if (!found.length && item.absent !== undefined) return whole(item.symbol, item.absent);
      const [key, value] = found[0] ?? ["", null];
      if (value === null && (!found.length || item.optional || item.default !== undefined)) {
        return item.default === undefined ? null : whole(item.symbol, item.default);
      }
      return told(item, key, value);
    }

    return { spec, sizes, get, wrong, side, unsupported, size, kind };
  }

  function checkRequired(found) {
    for (const [key, allowed] of Object.entries(found.spec.requires)) {
      const value = found.get(key);
      if (value === undefined || isAmong(value, allowed)) continue;
      throw found.unsupported(key, value, allowed);
    }
  }

  function readSizes(found, class_) {
    const fields = found.spec.fields.filter(({ only }) => !only || only === class_);
    const lacking = fields
      .filter((item) => item.default === undefined && item.absent === undefined && !item.optional)
      .filter(({ keys }) => keys.every((key) => found.get(key) === undefined))
      .map(({ keys }) => keys[0]);
    if (lacking.length) throw found.wrong(`lacks ${lacking.join(", ")}, which ${found.kind} needs`);
    for (const item of fields) {
      const size = found.size(item);
      if (size !== null) found.sizes[item.symbol] = size;
    }
  }

  function checkSizes(found) {
    const { spec, sizes, get, wrong, side } = found;
    const at = (expression) => evaluated(expression, sizes);
    for (const [key, expression] of Object.entries(spec.equal)) {
      const [value, wanted] = [get(key), at(expression)];
      if (value === undefined || value === null) continue;
      const size = fraction(wanted) ?? `${wanted[0]}/${wanted[1]}`;
      if (!same(value, size)) {
        const said = `, for which it is ${text(expression)} = ${size}`;
        const then = typeof expression === "string" ? "" : said;
        throw wrong(`${key} = ${shown(value)} contradicts ${side(expression)}${then}`);
      }
    }
    for (const [one, other] of spec.divides) {
      const [[a, b], [c, d]] = [at(one), at(other)];
      if ((c * b) % (d * a) !== 0n) throw wrong(`${side(other)} is not a multiple of ${side(one)}`);
    }
    for (const [one, other] of spec.at_most) {
      const [[a, b], [c, d]] = [at(one), at(other)];
      if (a * d > c * b) throw wrong(`${side(one)} is more than ${side(other)}`);
    }
    for (const [key, cycles] of Object.entries(spec.cycles)) checkCycles(found, key, cycles);
  }

  /** A list that is there has one entry for each layer, these over and over. */
  function checkCycles({ sizes, get, wrong, side, kind }, key, cycles) {
    const given = get(key);
    if (given === undefined || given === null) return;
    if (!Array.isArray(given) || BigInt(given.length) !== sizes.L) {
      const entries = Array.isArray(given) ? `${given.length} entries` : shown(given);
      throw wrong(`${key} has ${entries}, but ${side("L")}: give one for each layer`);
    }
    let index = 0;
    for (const [kinds, number] of cycles) {
      const [above, below] = evaluated(number, sizes);
      for (let turn = 0; turn < Number(above / below); turn += 1, index += 1) {
        if (given[index] === kinds[turn % kinds.length]) continue;
        const turns = kinds.length > 1 ? ", in turn" : "";
        const where = number === "L" ? "" : ` for ${side(number)}`;
        throw wrong(
          `${key}[${index}] = ${shown(given[index])} is not supported for ${kind}: only ` +
            `${kinds.map(shown).join(", ")}${turns}${where}`,
        );
      }
    }
  }

  Object.assign(globalThis.membillCalculator, {
    dimensions: { reading, checkRequired, readSizes, checkSizes, isAmong, deep },
  });
})();
