// The state of the calculator as the address of a link, and back: only what differs from how the
// page starts is told, and nothing that an address tells is believed before it is checked.
"use strict";

(() => {
  const { form, config, json, words, Refused } = globalThis.membillCalculator;
  if (!form) return;
  const { field, valueOf, put } = form;
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
      .map((each) => [each, words.plain(valueOf(each))])
      .filter(([each, value]) => each.name !== FIRST && value !== each.dataset.usual)
      .map(([each, value]) => [each.name, value]);
    const loaded = form.loaded();
    const file = loaded ? [["config", json.written(loaded.config)]] : [];
    return `#${new URLSearchParams([[FIRST, field(FIRST).value], ...file, ...changed])}`;
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
      if (given.has("config")) form.load(config.restored(given.get("config")));
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
