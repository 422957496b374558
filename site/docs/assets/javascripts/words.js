// How the calculator writes sizes, formulas with numbers put in, and calls that give the same.
"use strict";

(() => {
  const { grouped } = globalThis.membillCalculator;
  const UNITS = { GB: 10n ** 9n, GiB: 2n ** 30n };
  const NUMBER = /^(\d+|\d{1,3}(?:([,_\s])\d{3}(?:\2\d{3})*))(\.\d+)?$/;

  /** A number less its separators of thousands and leading zeros; another text as it is. */
  function plain(text) {
    const found = NUMBER.exec(text.trim());
    if (!found) return text.trim();
    return found[1].replace(/\D/g, "").replace(/^0+(?=\d)/, "") + (found[3] ?? "");
  }

  /** above/below rounded half up to some places, from exact integers. */
  function decimal(above, below, places) {
    const scaled = above * 10n ** BigInt(places);
    const digits = ((2n * scaled + below) / (2n * below)).toString().padStart(places + 1, "0");
    const head = grouped(digits.slice(0, digits.length - places));
    return places ? `${head}.${digits.slice(-places)}` : head;
  }

  /** `5.76 GB`: three significant digits at least, as the engine writes it. */
  function size(bytes, unit) {
    let places = 0;
    while (places < 6 && bytes * 10n ** BigInt(places) < 100n * UNITS[unit]) places += 1;
    return `${decimal(bytes, UNITS[unit], places)} ${unit}`;
  }

  const exact = (bytes) => `${grouped(bytes)} B`;
  const percent = (part, whole) => (whole ? `${decimal(part * 100n, whole, 1)}%` : "");

  /** A formula's text with numbers in the place of letters: `12·32·8192·1·4096 + …`. */
  function substituted(text, values) {
    const names = Object.keys(values).sort((one, other) => other.length - one.length);
    const token = new RegExp(`min\\(|max\\(|${names.join("|")}|\\d+|.`, "gu");
    let written = "";
    let before = false; // whether a factor stands before, which is multiplied by what follows
    for (const [each] of text.matchAll(token)) {
      const number = values[each] ?? (/^\d+$/.test(each) ? each : null);
      if (before && (number !== null || /^(⌈|\(|min|max)/.test(each))) written += "·";
      written += number ?? each;
      before = number !== null || /[⌉)²³⁴]/.test(each);
    }
    return written;
  }

  /** The text without divisors of one: what is not divided is not said to be. */
  function undivided(text, values, degrees) {
    const longest = [...degrees].sort((one, other) => other.length - one.length);
    const names = new RegExp(`${longest.join("|")}|\\d+|[^·]`, "g");
    const divisor = new RegExp(`/(?:\\(([^()]*)\\)|(${longest.join("|")})(?![a-z_]))`, "g");
    const kept = text.replace(divisor, (whole, inside, single) => {
      const factors = (inside ?? single).match(names);
      const left = factors.filter((each) => !(degrees.includes(each) && values[each] === 1n));
      if (left.length === factors.length) return whole;
      return left.length < 2 ? left.map((each) => `/${each}`).join("") : `/(${left.join("·")})`;
    });
    return kept.replace(/⌈([^⌈⌉/]*)⌉/g, "$1");
  }

  const usual = (data) => Object.keys(data.recipes).find((name) => data.recipes[name].usual);

  /** Settings of a bill, in order, as [name, value]; those that are as usual are left out. */
  function settings(read, data) {
    const given = [["b", read.b], ["T", read.T], ...letters(read, data)];
    const add = (name, value, expected) => {
      if (value !== expected) given.push([name, value]);
    };
    add("recipe", read.recipe, usual(data));
    add("recompute", read.recompute, data.policies[0]);
    for (const name of Object.keys(data.axes)) add(name, read.axes[name], 1n);
    for (const name of Object.keys(data.switches)) add(name, read.switches[name], false);
    const stages = Object.entries(read.stages).filter(([, stage]) => stage !== "0");
    given.push(...stages.map(([name, stage]) => [name, BigInt(stage)]));
    if (stages.length) given.push(["dp", read.dp]);
    if (read.schedule) {
      given.push(["schedule", read.schedule], ["pp", read.pp]);
      given.push(["micro_batches", read.micro_batches]);
      if (data.schedules[read.schedule].chunked) given.push(["chunks", read.chunks]);
    }
    return given;
  }

  /** Dimensions that are not the model's, those derived from them, and letters it lacks. */
  function letters(read, data) {
    const { derived } = data.architectures[read.architecture];
    const changed = new Set(read.changed.map(([name]) => name));
    const follows = (name) => derived[name]?.some((each) => changed.has(each));
    const dims = Object.entries(read.dims).filter(([name]) => changed.has(name) || follows(name));
    return [...dims, ...Object.entries(read.more)];
  }

  /** Flags of a model's options are said as on and off. */
  const isFlag = (name, read, data) =>
    data.architectures[read.architecture].options[name].values.every((value) =>
      ["on", "off"].includes(value),
    );

  function literal(value) {
    if (typeof value === "boolean") return value ? "True" : "False";
    return typeof value === "bigint" ? value.toString() : JSON.stringify(value);
  }

  /** The call in Python that gives the same peak and bill. */
  function python(read, data) {
    const named = ([name, value]) => `${name}=${literal(value)}`;
    const options = read.options
      .map(([name, value]) => [name, isFlag(name, read, data) ? value === "on" : value])
      .map(named);
    const model = `membill.model(${[literal(read.model), ...options].join(", ")})`;
    const given = settings(read, data).map(named).join(", ");
    return (
      `import membill\n\npeak = ${model}.peak(${given})\n` +
      "print(peak.bytes, peak.event.name)\nprint(peak.bill.bytes)\n"
    );
  }

  /** A name as one word of a command. */
  const word = (name) =>
    /^[\w.][\w.-]*$/.test(name) ? name : `'./${name.replaceAll("'", "'\\''")}'`;

  /** The command that gives the same bill, of a stage, and the peak there. */
  function commandLine(read, data, stage) {
    const dims = new Set(letters(read, data).map(([name]) => name));
    const long = (name) => `--${name.replaceAll("_", "-")}`;
    const flag = ([name, value]) => {
      if (dims.has(name)) return `--set ${name}=${value}`;
      if (name === "b" || name === "T") return `-${name} ${value}`;
      return value === true ? long(name) : `${long(name)} ${value}`;
    };
    const option = ([name, value]) => {
      if (!isFlag(name, read, data)) return `${long(name)} ${value}`;
      return value === "on" ? long(name) : `--no-${long(name).slice(2)}`;
    };
    const given = [...settings(read, data).map(flag), ...read.options.map(option)];
    if (read.schedule) given.push(`--stage ${stage}`);
    return ["membill bill", word(read.model), ...given].join(" ");
  }

  Object.assign(globalThis.membillCalculator, {
    words: {
      UNITS,
      plain,
      size,
      exact,
      grouped,
      percent,
      substituted,
      undivided,
      python,
      commandLine,
    },
  });
})();
