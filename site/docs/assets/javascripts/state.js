// The calculator at work: every change of a field is read, computed, shown, and put into the
// address, so that a link restores it. Instant navigation runs the scripts anew for a new page.
"use strict";

(() => {
  const { form: made, show, words, config, address, Refused } = globalThis.membillCalculator;
  if (!made) return;
  const { form, data, engine, field, element, answer, read, setting } = made;
  const LETTERS = {
    ...Object.fromEntries(Object.entries(data.axes).map(([name, { letter }]) => [letter, name])),
    p: "pp",
    m: "micro_batches",
    v: "chunks",
    N_d: "dp",
  };

  /** The field that a letter or a name means, if it is on the page. */
  function fieldOf(name) {
    const names = [LETTERS[name] ?? name, `dim-${name}`, `more-${name}`];
    const found = names.map((each) => each && field(each)).find(Boolean);
    return found && !found.closest("[hidden]") ? found : null;
  }

  /** Have a field described by a text besides others, or no more. */
  function describe(where, id, on) {
    const others = (where.getAttribute("aria-describedby") ?? "").split(" ");
    const ids = others.filter((each) => each && each !== id);
    if (on) ids.unshift(id);
    if (ids.length) where.setAttribute("aria-describedby", ids.join(" "));
    else where.removeAttribute("aria-describedby");
  }

  /** Say what is wrong beside its field, and nothing elsewhere; null if nothing is wrong. */
  function complain(problem) {
    for (const each of form.querySelectorAll(".wrong")) each.remove();
    for (const each of form.querySelectorAll("[aria-invalid]")) {
      describe(each, each.getAttribute("aria-errormessage"), false);
      each.removeAttribute("aria-invalid");
      each.removeAttribute("aria-errormessage");
    }
    const where = problem && fieldOf(problem.field);
    if (!where) return;
    const id = `${where.id}-wrong`;
    where.setAttribute("aria-invalid", "true");
    where.setAttribute("aria-errormessage", id);
    describe(where, id, true);
    where.closest(".field").append(element("span", { class: "wrong", id }, problem.message));
    const folded = where.closest("details");
    if (folded) folded.open = true;
  }

  /** Dim what was shown before: it answers another question than the fields ask. */
  function refuse(problem) {
    complain(problem);
    answer("current").inert = true;
    form.classList.add("refused");
    const label = fieldOf(problem.field)?.labels[0].textContent;
    const said = [label, problem.message].filter(Boolean).join(": ");
    answer("verdict").textContent = `No answer. ${said}.`;
  }

  function visible() {
    const schedule = field("schedule").value;
    const on = { schedule, chunks: schedule && data.schedules[schedule].chunked };
    for (const each of form.querySelectorAll("[data-with]")) each.hidden = !on[each.dataset.with];
    answer("policy").textContent = data.summaries[field("recompute").value];
    made.notes();
  }

  function present(found) {
    const unit = field("unit").value;
    const asked = setting(found);
    const peak = engine.peak(asked);
    const parts = {
      moment: show.moment(peak, found, unit),
      totals: show.totals(peak, unit),
      bar: show.bar(peak, found, unit),
      facts: show.facts(peak),
      peak: show.peakTable(peak),
      bill: show.billTable(peak),
      file: show.file(made.loaded()),
      most: show.limits(asked),
      curve: show.curve(asked, unit),
      formulas: show.formulas(peak),
    };
    for (const [name, part] of Object.entries(parts)) answer(name).replaceChildren(part);
    answer("verdict").textContent = show.verdict(peak, found, unit);
    answer("verdict").classList.toggle("over", peak.bytes > found.memory);
    answer("python").dataset.copy = words.python(found, data);
    answer("command").dataset.copy = words.commandLine(found, data, peak.bill.stage);
  }

  /** Do something that may be refused; what is wrong is shown. */
  function attempt(action) {
    try {
      action();
    } catch (problem) {
      if (!(problem instanceof Refused)) throw problem;
      refuse(problem);
    }
  }

  function update() {
    visible();
    attempt(() => {
      present(read());
      complain(null);
      answer("current").inert = false;
      form.classList.remove("refused");
    });
    history.replaceState(history.state, "", address.told());
    answer("link").dataset.copy = location.href;
  }

  function restore() {
    attempt(() => {
      address.restore(location.hash);
      update();
    });
    visible();
  }

  async function take(file) {
    try {
      made.load(await config.read(file), file.name);
      made.modelFields();
      update();
    } catch (problem) {
      if (!(problem instanceof Refused)) throw problem;
      refuse(problem);
    }
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", ({ target }) => {
    if (target.name === "file") return;
    if (target.name === "model") {
      if (target.value === made.FILE) return;
      made.load(null);
      field("file").value = "";
      made.modelFields();
    }
    update();
  });
  field("file").addEventListener("change", ({ target }) => {
    if (target.files.length) take(target.files[0]);
  });
  for (const [name, over] of [
    ["dragover", true],
    ["dragleave", false],
    ["drop", false],
  ]) {
    form.addEventListener(name, (event) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      form.classList.toggle("over", over);
    });
  }
  form.addEventListener("drop", ({ dataTransfer }) => {
    if (dataTransfer.files.length) take(dataTransfer.files[0]);
  });
  // One handler for the window, which the next page that has a calculator replaces.
  window.onhashchange = () => {
    const told = form.isConnected && address.tells(location.hash);
    if (told && location.hash !== address.told()) restore();
  };

  restore();
  form.dataset.filled = "";
})();
