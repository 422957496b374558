// A JSON object from a file that may be anything, read as strictly as the engine reads it: each key
// once, no NaN, and whole numbers, as BigInts, apart from others.
"use strict";

(() => {
  const { Refused } = globalThis.membillCalculator;
  const DEEPEST = 200;
  const DIGITS = 4300; // of the longest whole number that Python reads
  const NUMBER = /(-?(?:0|[1-9]\d*))(\.\d+)?([eE][-+]?\d+)?/y;
  const TEXT = /"((?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*)"/y;
  const WORDS = Object.entries({ true: true, false: false, null: null });
  const ALIEN = ["NaN", "Infinity", "-Infinity"];

  /** A value as JSON, cut where it is long. */
  function shown(value) {
    const text = written(value);
    return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
  }

  function written(value) {
    if (typeof value === "bigint") return value.toString();
    if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
    if (value instanceof Map) {
      const pairs = [...value].map(([key, each]) => `${JSON.stringify(key)}: ${written(each)}`);
      return `{${pairs.join(", ")}}`;
    }
    const fraction = typeof value === "number" && Number.isInteger(value) && value < 1e16;
    return fraction ? `${value}.0` : JSON.stringify(value);
  }

  /** The value of a JSON text; objects are Maps. Refused, naming `file`, for anything else. */
  function parsed(text, file) {
    let at = 0;
    const wrong = (message) => new Refused("file", `${file}${message}`);

    function syntax(message, where = at) {
      const before = text.slice(0, where).split("\n");
      const place = `line ${before.length}, column ${before.at(-1).length + 1}`;
      return wrong(` is not JSON: ${message} at ${place}`);
    }

    const space = () => {
      while (" \t\n\r".includes(text[at] || "x")) at += 1;
    };

    function token(pattern) {
      pattern.lastIndex = at;
      const found = pattern.exec(text);
      if (found) at = pattern.lastIndex;
      return found;
    }

    function string() {
      const start = at;
      const found = token(TEXT);
      if (!found) throw syntax("Unterminated or invalid string starting", start);
      return JSON.parse(found[0]);
    }

    function number() {
      const found = token(NUMBER);
      if (!found) throw syntax("Expecting value");
      if (found[2] !== undefined || found[3] !== undefined) return Number(found[0]);
      if (found[1].length > DIGITS) throw wrong(" holds a number that is too long");
      return BigInt(found[1]);
    }

    /** What stands between brackets, separated by commas. */
    function items(close, item) {
      at += 1;
      space();
      if (text[at] === close) {
        at += 1;
        return;
      }
      for (;;) {
        item();
        space();
        const mark = text[at];
        if (mark !== close && mark !== ",") throw syntax("Expecting ',' delimiter");
        at += 1;
        if (mark === close) return;
        space();
      }
    }

    function list(depth) {
      const found = [];
      items("]", () => found.push(value(depth)));
      return found;
    }

    function finite(key, found) {
      for (const each of Array.isArray(found) ? found : [found]) {
        if (typeof each === "number" && !Number.isFinite(each)) {
          throw wrong(`: ${key} = ${each} is not a number that JSON knows`);
        }
      }
    }

    function object(depth) {
      const found = new Map();
      items("}", () => {
        if (text[at] !== '"') throw syntax("Expecting property name enclosed in double quotes");
        const key = string();
        space();
        if (text[at] !== ":") throw syntax("Expecting ':' delimiter");
        at += 1;
        const each = value(depth);
        if (found.has(key)) {
          throw wrong(`: ${key} is given twice: ${shown(found.get(key))} and ${shown(each)}`);
        }
        finite(key, each);
        found.set(key, each);
      });
      return found;
    }

    function value(depth) {
      if (depth > DEEPEST) throw wrong(" is nested too deeply");
      space();
      if (text[at] === "{") return object(depth + 1);
      if (text[at] === "[") return list(depth + 1);
      if (text[at] === '"') return string();
      const alien = ALIEN.find((each) => text.startsWith(each, at));
      if (alien) {
        at += alien.length;
        return Number(alien);
      }
      const word = WORDS.find(([each]) => text.startsWith(each, at));
      if (!word) return number();
      at += word[0].length;
      return word[1];
    }

    const found = value(0);
    space();
    if (at < text.length) throw syntax("Extra data");
    return found;
  }

  function kind(value) {
    if (value === null) return "null";
    if (Array.isArray(value)) return "list";
    return typeof value === "bigint" ? "number" : typeof value;
  }

  /** The object that a text is; Refused, naming what it is of, for anything else. */
  function object(text, name) {
    const found = parsed(text, name);
    if (found instanceof Map) return found;
    throw new Refused("file", `${name} holds a ${kind(found)}, not an object: {...}`);
  }

  /** The object that a file holds, of at most so many bytes; a larger file is not read. */
  async function readObject(file, most) {
    const refuse = (message) => new Refused("file", `${file.name}${message}`);
    if (file.size > most) {
      const [size, limit] = [file.size, most].map((each) => each.toLocaleString("en"));
      throw refuse(` has ${size} bytes: a configuration has at most ${limit}, so it is not read`);
    }
    let content;
    try {
      content = await file.arrayBuffer();
    } catch {
      throw refuse(" cannot be read: give the file of a config.json");
    }
    let text;
    try {
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
    } catch {
      throw refuse(" is not UTF-8");
    }
    return object(text, file.name);
  }

  /** Whether two values are one in JSON, where true is not 1. */
  function same(one, other) {
    const numbers = [one, other].every((each) => ["number", "bigint"].includes(typeof each));
    if (numbers) return one == other; // a BigInt and a number of one value
    if (Array.isArray(one) && Array.isArray(other)) {
      return one.length === other.length && one.every((each, at) => same(each, other[at]));
    }
    return one === other;
  }

  Object.assign(globalThis.membillCalculator, { json: { object, readObject, same, shown, written } });
})();
