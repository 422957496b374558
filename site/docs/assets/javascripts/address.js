// The state of the calculator as the address of a link, and back: only what differs from how the
// page starts is told, and nothing that an address tells is believed before it is checked.
"use strict";

(() => {
  const { form, Refused } = globalThis.membillCalculator;
  if (!form) return;
  const { data, FILE, field, valueOf, put } = form;
  const MOST = data.files.most;
  const FIRST = "model";
  const DEPENDENT = /^(dim|option)-/;
  const MORE = /^more-/;

  /** Fields in the order of the page that are in use, less the file. */
  const fields = () =>
    [...form.form.elements].filter(
      ({ name, tagName }) => name && name !== "file" && tagName !== "BUTTON",
    );

  function told() {
    const changed = fields()
      .filter((each) => each.name !== FIRST && valueOf(each) !== each.dataset.usual)
      .map((each) => [each.name, valueOf(each)]);
    const file = form.loaded() ? [["config", JSON.stringify(form.loaded())]] : [];
    return `#${new URLSearchParams([[FIRST, field(FIRST).value], ...file, ...changed])}`;
  }

  const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

  /** A model that an address tells; Refused unless it is one that a file could have given. */
  function restored(text) {
    const wrong = (what) => new Refused(FIRST, `the address tells ${what} of a ${FILE}`);
    let found;
    try {
      found = JSON.parse(text);
    } catch {
      throw wrong("no JSON");
    }
    const { architecture, dims, options } = isObject(found) ? found : {};
    if (!Object.hasOwn(data.architectures, architecture) || !isObject(dims) || !isObject(options)) {
      throw wrong("no model");
    }
    for (const [name, size] of Object.entries(dims)) {
      if (!Object.hasOwn(data.symbols, name)) throw wrong(`an unknown dimension ${name}`);
      const least = data.symbols[name][1];
      if (!Number.isSafeInteger(size) || size < least || size > MOST) {
        throw wrong(`${name} = ${size}, which is no whole number from ${least} to ${MOST}`);
      }
    }
    const known = data.architectures[architecture].options;
    for (const [name, value] of Object.entries(options)) {
      if (!Object.hasOwn(known, name) || !known[name].values.includes(value)) {
        throw wrong(`an unknown option ${name} = ${value}`);
      }
    }
    return { architecture, dims, options };
  }

  /** Fill in the fields from an address; Refused, after all the others, for what is not allowed. */
  function restore(hash) {
    const given = new URLSearchParams(hash.slice(1));
    let problem = null;
    const attempt = (action) => {
      try {
        action();
      } catch (found) {
        if (!(found instanceof Refused)) throw found;
        problem ??= found;
      }
    };
    form.load(null);
    form.fixedFields();
    attempt(() => {
      if (given.has("config")) form.load(restored(given.get("config")));
      else if (given.has(FIRST)) put(field(FIRST), given.get(FIRST));
    });
    form.modelFields();
    const fill = (wanted) => {
      for (const each of fields().filter(({ name }) => wanted(name) && given.has(name))) {
        attempt(() => put(each, given.get(each.name)));
      }
    };
    fill((name) => name !== FIRST && !MORE.test(name));
    attempt(() => form.letters());
    fill((name) => MORE.test(name));
    if (problem) throw problem;
  }

  /** Whether an address tells a state at all. */
  const tells = (hash) => new URLSearchParams(hash.slice(1)).has(FIRST);

  globalThis.membillCalculator.address = { told, restore, tells };
})();
