// What a recipe keeps for the weights of a device, and how many parameters those are.
"use strict";

(() => {
  const { grouped, times, plus, ceiling, whole } = globalThis.membillCalculator;

  /** `2·N`; a factor of one is not written. */
  function product([above, below], what) {
    if (below !== 1n) return `${above}/${below}·${what}`;
    return above === 1n ? what : `${above}·${what}`;
  }

  function states(data, value) {
    const width = ([above, below]) => [BigInt(above), BigInt(below)];

    const isTied = (share, [, tied]) => share.tied && tied === 1;
    const rows = (share) => share.own.weights.map((place) => data.weights[place]);

    /** Weights of a share, less what is the embedding's: entries, trained or not, numbers. */
    const weights = (share) =>
      rows(share)
        .filter((row) => !isTied(share, row))
        .map(([entries, , trained, , ...numbers]) => ({ entries, trained, numbers }));

    /** Bytes of the weights of one of a share: its own, or those that are the embedding's. */
    function sizes(share, values, tied) {
      const mine = rows(share).filter((row) => isTied(share, row) === tied);
      const bytes = mine.map(([entries, , , each]) => times(value(entries, values), width(each)));
      return whole(plus(bytes), "weights");
    }

    function parameters(items, values) {
      const sizes = items.flatMap((share) =>
        weights(share).map(({ entries }) => times(value(entries, values), share.number)),
      );
      return whole(plus(sizes), "the number of parameters");
    }

    /** How many numbers a state keeps for each weight, with how often the weight comes. */
    function numbers(state, items, values) {
      const shaped = data.shaped.indexOf(state.shaped);
      return items.flatMap((share) =>
        weights(share)
          .filter(({ trained }) => trained || state.frozen)
          .map((each) => ({
            count: value(shaped < 0 ? each.entries : each.numbers[shaped], values),
            number: share.number,
          })),
      );
    }

    const isSmall = (state, [above, below]) =>
      state.small !== null && above % below === 0n && above / below < BigInt(state.small[0]);

    const sum = (held) => plus(held.map(({ count, number }) => times(count, number)));

    /** Bytes of a state on one device: [bytes each, how many, the rule for that] by term. */
    function terms(state, held, among) {
      const large = held.filter(({ count }) => !isSmall(state, count));
      const few = sum(held.filter(({ count }) => isSmall(state, count)));
      const letter = state.shaped ? "n" : "N";
      const shared = (count) => (among === 1n ? count : [ceiling(times(count, [1n, among])), 1n]);
      const rule = (what) => (among === 1n ? what : `⌈${what}/N_d⌉`);
      const all = shared(sum(large));
      const found = [[width(state.bytes), all, rule(letter)]];
      for (const [block, bytes] of state.constants) {
        const blocks = (count) => [ceiling(times(count, [1n, BigInt(block)])), 1n];
        const number =
          among === 1n
            ? plus(large.map(({ count, number: each }) => times(blocks(count), each)))
            : blocks(all);
        found.push([width(bytes), number, `⌈${rule(letter)}/${block}⌉`]);
      }
      if (state.small) found.push([width(state.small[1]), shared(few), rule("S")]);
      return found;
    }

    /** `2·⌈8,030,261,248/8⌉` is what the numbers say where devices divide. */
    function line(state, held, among) {
      const found = terms(state, held, among);
      const bytes = plus(found.map(([each, number]) => times(each, number)));
      const [[own, all, rule], ...more] = found;
      const undivided = sum(held.filter(({ count }) => !isSmall(state, count)));
      const written = (number) => grouped(whole(number, state.name));
      const first = among === 1n ? written(all) : `⌈${written(undivided)}/${among}⌉`;
      return {
        category: state.name,
        part: "",
        bytes: whole(bytes, state.name),
        rule: [product(own, rule), ...more.map(([each, , text]) => product(each, text))].join(
          " + ",
        ),
        said: [
          product(own, first),
          ...more.map(([each, number]) => product(each, written(number))),
        ].join(" + "),
      };
    }

    /** The kinds of states that devices divide. */
    const divided = ({ stages }) =>
      new Set(Object.entries(stages).flatMap(([name, at]) => data.partitions[name].stages[at]));

    /** Lines for what the recipe keeps, or makes in its step. */
    function of(setting, items, values, kept = "states") {
      const shared = divided(setting);
      return data.recipes[setting.recipe][kept].map((state) =>
        line(state, numbers(state, items, values), shared.has(state.kind) ? values.N_d : 1n),
      );
    }

    return { of, parameters, divided, sizes };
  }

  Object.assign(globalThis.membillCalculator, { states });
})();
