// What the calculator's fields say, checked, as the setting that a bill is made of.
"use strict";

(() => {
  const { form, words, Refused } = globalThis.membillCalculator;
  if (!form) return;
  const { data, field, current, spec, options, letters } = form;
  const MOST = data.files.most;
  const WRITTEN = "write it in digits, with or without separators of thousands";

  /** What a field says, less separators; Refused if it is nothing, or too large a number. */
  function number(name, allowed) {
    const text = words.plain(field(name).value);
    if (!text) throw new Refused(name, `give ${allowed}`);
    if (Number(text) > MOST) {
      const unit = name === "memory" ? ` ${field("unit").value}` : "";
      throw new Refused(name, `${text} is too large: at most ${words.grouped(MOST)}${unit}`);
    }
    return text;
  }

  /** The whole number in a field; Refused, naming the field, for anything else. */
  function count(name, least = 1) {
    const allowed = `a whole number from ${least} up`;
    const text = number(name, allowed);
    const isWhole = /^\d+$/.test(text);
    if (isWhole && BigInt(text) >= BigInt(least)) return BigInt(text);
    throw new Refused(name, `${text} is not ${allowed}${isWhole ? "" : `: ${WRITTEN}`}`);
  }

  function memory() {
    const allowed = "a size above 0";
    const text = number("memory", allowed);
    const match = /^(\d+)(?:\.(\d+))?$/.exec(text);
    if (!match) throw new Refused("memory", `${text} is not ${allowed}: ${WRITTEN}`);
    if (!/[1-9]/.test(text)) throw new Refused("memory", `${text} is not ${allowed}`);
    const digits = match[2] ?? "";
    const unit = words.UNITS[field("unit").value];
    return (BigInt(match[1] + digits) * unit) / 10n ** BigInt(digits.length);
  }

  const shown = (name) => !field(name).closest(".field").hidden;
  const each = (names, value) => Object.fromEntries(names.map((name) => [name, value(name)]));

  /** What the fields say of how a model is run. */
  function run() {
    const schedule = field("schedule").value;
    const pipeline = (name) => (schedule ? count(name) : 1n);
    const chunked = schedule && data.schedules[schedule].chunked;
    return {
      recipe: field("recipe").value,
      recompute: field("recompute").value,
      axes: each(Object.keys(data.axes), (name) => (shown(name) ? count(name) : 1n)),
      switches: each(Object.keys(data.switches), (name) => field(name).checked),
      stages: each(Object.keys(data.partitions), (name) => field(name).value),
      dp: count("dp"),
      schedule,
      pp: pipeline("pp"),
      micro_batches: pipeline("micro_batches"),
      chunks: chunked ? count("chunks", 2) : 1n,
    };
  }

  /** What the fields say; Refused at the first that is wrong. */
  function read() {
    const model = current();
    const known = spec().options;
    const chosen = options();
    const dims = each(Object.keys(model.dims), (name) =>
      count(`dim-${name}`, data.symbols[name][1]),
    );
    const usual = (name) => model.options[name] ?? known[name].default;
    const found = {
      model: form.loaded()?.file ?? field("model").value,
      architecture: model.architecture,
      dims,
      changed: Object.entries(dims).filter(([name, size]) => size !== BigInt(model.dims[name])),
      options: Object.entries(chosen).filter(([name, value]) => value !== usual(name)),
      chosen,
      b: count("b"),
      T: count("T"),
      ...run(),
      memory: memory(),
    };
    const lacking = letters();
    return {
      ...found,
      more: each(lacking, (name) => count(`more-${name}`, data.symbols[name][1])),
    };
  }

  /** The setting that a bill is made of. */
  function setting(found) {
    const degrees = Object.entries(data.axes).map(([name, { letter }]) => [
      letter,
      found.axes[name],
    ]);
    return { ...found, options: found.chosen, degrees: Object.fromEntries(degrees) };
  }

  Object.assign(form, { read, setting });
})();
