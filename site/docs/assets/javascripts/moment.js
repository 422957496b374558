// What the calculator says of the fullest moment: where in a step it is, which gradients are not
// there yet, and how its total differs from the bill's.
"use strict";

(() => {
  const { form, words, show, said: named } = globalThis.membillCalculator;
  if (!form) return;
  const { data, element } = form;
  const BETWEEN = {
    "end of forward": "the end of the forward pass",
    update: "the update, after the backward pass",
  };
  const sum = (sizes) => sizes.reduce((all, bytes) => all + bytes, 0n);

  /** Where in a step a moment is, for people. */
  function inWords({ phase, item, place, bill }, { architecture }) {
    if (!item) return BETWEEN[phase];
    const isForward = phase === "forward";
    const pass = isForward ? "forward pass" : "backward pass";
    if (!item.isLayer) {
      const edge = isForward === item.isEnd ? "end" : "start";
      return `the ${edge} of the ${pass}, at the ${item.isEnd ? item.part.category : "input"}`;
    }
    const { parts } = data.architectures[architecture];
    const kinds = bill.items.filter(({ part }) => ![parts[0], parts.at(-1)].includes(part));
    const which = `the ${place}${kinds.length > 1 ? " of its kind" : ""}`;
    if (phase === "recomputation") return `the ${pass}, where ${which} is recomputed`;
    return `the ${pass} of ${which}`;
  }

  /** Gradients that backward makes after the moment; nothing where all are there. */
  function gradients({ entries, bill }, { recipe }, unit) {
    const states = data.recipes[recipe].states.filter(({ kind }) => kind === "gradients");
    const names = states.map(({ name }) => name);
    const all = sum(
      bill.entries.filter(({ category }) => names.includes(category)).map(({ bytes }) => bytes),
    );
    const there = sum(
      entries.filter(([category]) => names.includes(category)).map(([, bytes]) => bytes),
    );
    if (there >= all) return "";
    const [whole, some] = [all, there].map((bytes) => words.size(bytes, unit));
    return there
      ? ` Of the gradients of the weights, ${some} are there by then: backward makes the others ` +
          `later, as it frees activations, until they are ${whole}.`
      : " Gradients of the weights are not in this moment: backward makes them later, as it frees " +
          `activations, until they are ${whole}.`;
  }

  function moment(peak, found, unit) {
    const { schedule, pp } = found;
    const { stage } = peak.bill;
    const several = schedule && pp > 1n;
    const where = several ? `, on stage ${stage}, the fullest of ${pp}, counted from 0` : "";
    const name = element("code", { "data-event": "" }, named(peak));
    const place = element("strong", {}, inWords(peak, found));
    const later = element("span", { "data-later": "" }, gradients(peak, found, unit));
    return element("p", { class: "small" }, "That moment is ", place, " (", name, `)${where}.`, later);
  }

  /** How the two totals of the page differ. */
  function totals({ bytes, bill }, unit) {
    const [peak, all] = [bytes, bill.total].map((each) => words.size(each, unit));
    return element(
      "p",
      { class: "small", "data-totals": "" },
      `The peak of ${peak} is all that is there at that moment, and must fit; the bill of ${all} ` +
        "sums what the device holds of each kind as if all were there at once, without what ops " +
        "use while they run.",
    );
  }

  Object.assign(show, { moment, totals });
})();
