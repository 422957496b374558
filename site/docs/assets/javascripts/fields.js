// The calculator's form: its fields, which the data that the engine has written make.
"use strict";

(() => {
  const form = document.getElementById("calculator-form");
  if (!form) return;
  const data = globalThis.membill;
  const { calculator, words, Refused } = globalThis.membillCalculator;
  const engine = calculator(data);
  const FILE = "config.json";
  const MODEL = "llama-3-8b";
  const START = {
    b: "1",
    T: "8192",
    dp: "1",
    pp: "1",
    micro_batches: "1",
    chunks: "2",
    memory: "80",
    unit: "GB",
  };
  const SPELLED = { mlp: "MLP", gelu: "GELU" };
  const field = (name) => form.elements.namedItem(name);
  let loaded = null; // what a config.json gave: { architecture, dims, options, config, file }
  let lowered = null; // a letter that the model has a limit for: { name, before, most, why }

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  const part = (name) => form.querySelector(`[data-fields="${name}"]`);

  /** What a field says, and how it is made to say something. */
  const valueOf = (each) => (each.type === "checkbox" ? (each.checked ? "on" : "off") : each.value);

  /** Make a field say something; Refused if it cannot. */
  function put(each, value) {
    if (each.type === "checkbox") {
      each.checked = value === "on";
      return;
    }
    const choices = each.tagName === "SELECT" ? [...each.options].map((one) => one.value) : [value];
    if (!choices.includes(value)) {
      throw new Refused(each.name, `${value} is not one of ${choices.filter(Boolean).join(", ")}`);
    }
    each.value = value;
  }

  /** Note what a field says unless it is changed. */
  function start(control, value) {
    control.dataset.usual = value;
    put(control, value);
  }

  function fill(control, items, chosen) {
    control.replaceChildren(...items.map(([value, text]) => element("option", { value }, text)));
    start(control, chosen);
  }

  /** A field with its label. */
  function labelled(name, label, control, kind = "") {
    control.id = `c-${name}`;
    control.name = name;
    const title = element("label", { for: control.id }, label);
    return element("p", { class: `field ${kind}`.trim() }, title, control);
  }

  function number(name, label, value) {
    const made = element("input", { inputmode: "numeric", autocomplete: "off" });
    start(made, value);
    return labelled(name, label, made);
  }

  const current = () => loaded ?? data.models[field("model").value];
  const spec = () => data.architectures[current().architecture];
  const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
  const title = (name) =>
    capital(
      name
        .split("_")
        .map((word) => SPELLED[word] ?? word)
        .join(" "),
    );

  /** A letter, its index below: d_ff. */
  function letter(name) {
    const [base, index] = name.split("_");
    return element("var", {}, base, ...(index ? [element("sub", {}, index)] : []));
  }

  const named = (text, name) => element("span", {}, `${capital(text)}, `, letter(name));
  const labels = (name) => named(data.symbols[name][0], name);

  /** The fields that depend on the model: dimensions, options, and the axes that divide it. */
  function modelFields() {
    const { dims, options } = current();
    part("dims").replaceChildren(
      ...Object.entries(dims).map(([name, size]) => number(`dim-${name}`, labels(name), `${size}`)),
    );
    part("options").replaceChildren(
      ...Object.entries(spec().options).map(([name, { values, notes: about, default: usual }]) => {
        const select = element("select");
        fill(
          select,
          values.map((value) => [value, value]),
          options[name] ?? usual,
        );
        return explained(labelled(`option-${name}`, title(name), select), select, about);
      }),
    );
    part("more").replaceChildren();
    const used = engine.axes(current().architecture);
    for (const name of Object.keys(data.axes))
      field(name).closest(".field").hidden = !used.has(name);
    lower(dims);
  }

  /** A field of an option with room for what the value chosen stands for, if that is known. */
  function explained(made, select, about) {
    if (!Object.keys(about).length) return made;
    const id = `${select.id}-note`;
    select.setAttribute("aria-describedby", id);
    made.classList.add("across");
    made.append(element("span", { class: "note", id }));
    return made;
  }

  /** Lower what is more than the model allows to that; what was lowered for another is put back. */
  function lower(dims) {
    if (isLowered()) field(lowered.name).value = lowered.before;
    lowered = null;
    for (const [name, bound, why] of data.limits) {
      const before = field(name)?.value;
      const most = dims[bound];
      if (most === undefined || !(Number(words.plain(before)) > most)) continue;
      lowered = { name, before, bound, most, why };
      field(name).value = most;
    }
  }

  const isLowered = () => lowered !== null && field(lowered.name).value === `${lowered.most}`;

  /** Say what the values chosen stand for, and what has been lowered. */
  function notes() {
    for (const [name, { notes: about }] of Object.entries(spec().options)) {
      const { id, value } = field(`option-${name}`);
      const pieces = (about[value] ?? "").split("`");
      const said = pieces.map((text, at) => (at % 2 ? element("code", {}, text) : text));
      form.querySelector(`#${id}-note`)?.replaceChildren(...said);
    }
    for (const [name] of data.limits) {
      const note = form.querySelector(`#c-${name}-note`);
      const { bound, most, why } = lowered ?? {};
      const said = `Lowered to ${bound} = ${words.grouped(most ?? 0)} of the model, ${why}.`;
      note.textContent = isLowered() && lowered.name === name ? said : "";
    }
    const count = (name) => Number(words.plain(field(name).value)); // NaN is less than nothing
    const few = "Fewer than the stages: the pipeline never fills, and holds less than it could.";
    form.querySelector("#c-micro_batches-note").textContent = count("micro_batches") < count("pp") ? few : "";
  }

  /** Letters that the model has no number for, each with a field, which stays if it is there. */
  function letters() {
    const { architecture, dims } = current();
    const names = engine.unknown({ architecture, dims, options: options() });
    const there = [...part("more").querySelectorAll("input")].map((each) => each.name);
    if (there.join() !== names.map((name) => `more-${name}`).join()) {
      part("more").replaceChildren(
        ...names.map((name) => number(`more-${name}`, labels(name), "")),
      );
    }
    return names;
  }

  function fixedFields() {
    const titled = (table) => Object.entries(table).map(([name, { title }]) => [name, title]);
    const first = MODEL in data.models ? MODEL : Object.keys(data.models)[0];
    fill(field("model"), titled(data.models), first);
    fill(
      field("recipe"),
      titled(data.recipes),
      Object.keys(data.recipes).find((name) => data.recipes[name].usual),
    );
    fill(
      field("recompute"),
      data.policies.map((name) => [name, name]),
      data.policies[0],
    );
    fill(field("schedule"), [["", "none"], ...titled(data.schedules)], "");
    for (const [name, { stages }] of Object.entries(data.partitions)) {
      const said = ([stage, kinds]) => [stage, `${stage}: ${kinds.join(", ") || "nothing"}`];
      fill(field(name), Object.entries(stages).map(said), Object.keys(stages)[0]);
    }
    part("axes").replaceChildren(
      ...Object.entries(data.axes).map(([name, { title, letter: of }]) =>
        number(name, named(title, of), "1"),
      ),
    );
    part("switches").replaceChildren(
      ...Object.entries(data.switches).map(([name, title]) => {
        const box = element("input", { type: "checkbox" });
        start(box, "off");
        return labelled(name, title, box, "check");
      }),
    );
    for (const [name, value] of Object.entries(START)) start(field(name), value);
  }

  /** The name by which calls ask for a file: they know one by how it ends. */
  const nameOf = (name) => (name?.endsWith(".json") ? name : FILE);

  /** Read a model from a file, or none: then the one chosen from the list counts. */
  function load(found, name = null) {
    loaded = found && { ...found, isHere: name !== null, file: nameOf(name) };
    const select = field("model");
    select.querySelector(`option[value="${FILE}"]`)?.remove();
    if (!found) return;
    select.append(element("option", { value: FILE }, `${loaded.file} of yours`));
    select.value = FILE;
  }

  /** The options chosen. */
  const options = () =>
    Object.fromEntries(
      Object.keys(spec().options).map((name) => [name, field(`option-${name}`).value]),
    );

  globalThis.membillCalculator.form = {
    form,
    data,
    engine,
    FILE,
    field,
    element,
    valueOf,
    put,
    load,
    fixedFields,
    modelFields,
    letters,
    notes,
    options,
    current,
    spec,
    loaded: () => loaded,
    answer: (name) => form.querySelector(`[data-answer="${name}"]`),
  };
})();
