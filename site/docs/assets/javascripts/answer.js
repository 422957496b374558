// What the calculator shows in words and tables: the verdict, the categories, the limits, the
// formulas with numbers put in.
"use strict";

(() => {
  const { form, words, json, most, Refused } = globalThis.membillCalculator;
  if (!form) return;
  const { engine, element } = form;

  const row = (...cells) => element("tr", {}, ...cells);
  const cell = (text) => element("td", { class: "number" }, text);
  const head = (text) => element("th", { scope: "row" }, text);

  function heading(first, ...others) {
    const numbers = others.map((text) => element("th", { scope: "col", class: "number" }, text));
    return element("thead", {}, row(element("th", { scope: "col" }, first), ...numbers));
  }

  /** A table that scrolls within itself. */
  function table(label, header, rows, foot, kind = "") {
    const made = element("table", { class: `bill ${kind}`.trim() }, header);
    made.append(element("tbody", {}, ...rows));
    if (foot) made.append(element("tfoot", {}, foot));
    const around = { class: "scroll", tabindex: "0", role: "region", "aria-label": label };
    return element("div", around, made);
  }

  /** The sum of each category of [category, bytes], in order. */
  function categories(lines) {
    const found = new Map();
    for (const [category, bytes] of lines) {
      found.set(category, (found.get(category) ?? 0n) + bytes);
    }
    return [...found];
  }

  function verdict(peak, { memory }, unit) {
    const room = memory - peak.bytes;
    const tied = (bytes) => words.size(bytes, unit).replace(" ", "\u00a0");
    const [needed, device] = [tied(peak.bytes), tied(memory)];
    const spare = tied(room < 0n ? -room : room);
    const [fits, misses] = [`Fits into ${device}, with`, `Does not fit into ${device}:`];
    const said = room < 0n ? `${misses} ${spare} too much` : `${fits} ${spare} to spare`;
    return `Needs ${needed} at the fullest moment of a step. ${said}.`;
  }

  function facts(peak) {
    const number = words.grouped(engine.parameters(peak.bill));
    const exact = element("span", { "data-exact": "parameters" }, number);
    return element("p", { class: "small" }, "The device holds ", exact, " parameters.");
  }

  /** A table of bytes by category, and of all of them. attribute: what its exact numbers have. */
  function categoryTable(label, lines, total, attribute) {
    const all = lines.reduce((sum, [, bytes]) => sum + bytes, 0n);
    const line = (name, bytes) =>
      row(
        head(name),
        element("td", { class: "number", [attribute]: name }, words.exact(bytes)),
        cell(words.size(bytes, "GB")),
        cell(words.size(bytes, "GiB")),
        cell(words.percent(bytes, all)),
      );
    const rows = categories(lines).map(([name, bytes]) => line(name, bytes));
    const header = heading("On one device", "exact", "in GB (10⁹\u00a0B)", "in GiB (2³⁰\u00a0B)", "share");
    return table(label, header, rows, line(total, all));
  }

  const peakTable = ({ entries }) =>
    categoryTable("The fullest moment by category", entries, "peak", "data-peak");

  function billTable({ bill }) {
    const lines = bill.entries.map(({ category, bytes }) => [category, bytes]);
    return categoryTable("The bill by category", lines, "total", "data-exact");
  }

  /** How far b or T can go alone; what is in its way where that cannot be told. */
  function limit(setting, letter, unit) {
    try {
      const { value, step } = most(engine, setting, letter);
      const multiple = step > 1n ? `, a multiple of ${step}` : "";
      const plural = value === 1n ? "" : "s";
      return value ? `${words.grouped(value)} ${unit}${plural}${multiple}` : "none fits";
    } catch (problem) {
      if (!(problem instanceof Refused)) throw problem;
      return problem.message;
    }
  }

  /** Where the copied calls look for a file; a link has brought what it said, to be saved. */
  function file(loaded) {
    if (!loaded) return "";
    const name = element("code", {}, loaded.file);
    const said = ["The calls read ", name, ", which has to lie in the working directory. "];
    if (loaded.isHere) return element("p", { class: "small" }, ...said);
    const button = element("button", { type: "button", class: "save" }, "Save the configuration");
    button.addEventListener("click", () => save(json.written(loaded.config), loaded.file));
    return element("p", { class: "small" }, ...said, button);
  }

  function save(text, name) {
    const href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    element("a", { href, download: name }).click();
    URL.revokeObjectURL(href);
  }

  function limits(setting) {
    const line = (title, letter, unit) => [
      element("dt", {}, title),
      element("dd", { "data-most": letter }, limit(setting, letter, unit)),
    ];
    return element(
      "dl",
      { class: "limits" },
      ...line(`Largest micro-batch at T = ${words.grouped(setting.T)}`, "b", "sequence"),
      ...line(`Longest sequence at b = ${words.grouped(setting.b)}`, "T", "token"),
    );
  }

  const quotient = ([above, below]) =>
    above % below === 0n ? `${above / below}` : `${above}/${below}`;

  /** The formula of a line, and the same with numbers put in. */
  function put({ place, rule, said, number, held, bytes }, { values }) {
    if (place === undefined) return [rule, `${said} = ${words.exact(bytes)}`];
    const text = words.undivided(engine.text(place), values, engine.degrees);
    const factors = [number, held].map(quotient).filter((each) => each !== "1");
    const inside = words.substituted(text, values);
    const sum = factors.length && inside.includes(" ") ? `(${inside})` : inside;
    return [text, `${[...factors, sum].join("·")} = ${words.exact(bytes)}`];
  }

  function formulas({ bill }) {
    const rows = bill.entries.map((entry) => {
      const lines = put(entry, bill).map((text) => element("code", {}, text));
      const name = [entry.category, entry.part].filter(Boolean).join(", ");
      return row(head(name), element("td", {}, ...lines));
    });
    const cells = ["Line", "Formula, and with numbers put in"];
    const titles = cells.map((text) => element("th", { scope: "col" }, text));
    const header = element("thead", {}, row(...titles));
    return table("Formulas with numbers put in", header, rows, null, "formulas");
  }

  globalThis.membillCalculator.show = {
    cell,
    head,
    heading,
    row,
    table,
    categories,
    verdict,
    facts,
    peakTable,
    billTable,
    file,
    limits,
    formulas,
  };
})();
