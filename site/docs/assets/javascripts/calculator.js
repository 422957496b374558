// What the calculator's fields say, checked, as the setting that a bill is made of.
"use strict";

(() => {
  const { form, words, Refused } = globalThis.membillCalculator;
  if (!form) return;
  const { data, FILE, field, current, spec, options, letters } = form;

  /** The whole number in a field; Refused, naming the field, for anything else. */
  function count(name, least = 1) {
    const text = field(name).value.trim();
    if (/^\d{1,15}$/.test(text) && BigInt(text) >= BigInt(least)) return BigInt(text);
    const allowed = `a whole number from ${least} up`;
    throw new Refused(name, text ? `${text} is not ${allowed}` : `give ${allowed}`);
  }

  function memory() {
    const text = field("memory").value.trim();
    const match = /^(\d{1,9})(?:\.(\d{1,9}))?$/.exec(text);
    if (!match || !/[1-9]/.test(text)) {
      throw new Refused("memory", text ? `${text} is not a size above 0` : "give a size above 0");
    }
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
      model: form.loaded() ? FILE : field("model").value,
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
