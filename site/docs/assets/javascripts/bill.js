// The bill of a model under a plan and the peak of its step, from the functions that the engine has
// printed. It takes the same steps as membill.bill, in exact integers; no coefficient stands here.
"use strict";

(() => {
  const { Refused, grouped, ONE, times, plus, whole, peak: peakOf } = globalThis.membillCalculator;

  /** A calculator over the data that the engine has written. */
  function calculator(data) {
    let gathered = null; // conditions by place, while they are gathered instead of checked

    const needed = (names, values) =>
      names.map((name) => {
        if (values[name] === undefined) throw new Refused(name, `give a value for ${name}`);
        return values[name];
      });

    function check(place, values) {
      if (gathered) {
        gathered.add(place);
        return;
      }
      const [below, divisor, above, dividend, either, left, right] = data.checks[place];
      const small = whole(divisor(...needed(below, values)), left);
      const large = whole(dividend(...needed(above, values)), right);
      if (large % small === 0n || (either && small % large === 0n)) return;
      throw undivided(below[0] ?? "", [left, small], [right, large], either);
    }

    /** What is wrong where one side, as a text and its value, does not divide the other. */
    function undivided(field, [left, small], [right, large], either = false) {
      const said = (words, value) =>
        words === String(value) ? words : `${words} = ${grouped(value)}`;
      const needed = `${left} must divide ${right}${either ? " or be divided by it" : ""}`;
      const found = `${said(left, small)} does not divide ${said(right, large)}`;
      return new Refused(field, `${needed}: ${found}`);
    }

    /** The rules whose letters both have a number. */
    const given = (rules, values) =>
      rules.filter(([one, other]) => values[one] !== undefined && values[other] !== undefined);

    /** The most that a letter can be; null for no limit. */
    function limit(letter, values) {
      const found = given(data.limits, values).filter(([less]) => less === letter);
      return found.reduce(
        (least, [, more]) => (least === null || values[more] < least ? values[more] : least),
        null,
      );
    }

    /** Refused unless the sizes of a model agree with one another. */
    function agree(values) {
      for (const [less, more, why] of given(data.limits, values)) {
        if (values[less] <= values[more]) continue;
        const most = `${more} = ${grouped(values[more])} of the model`;
        throw new Refused(less, `${less} must be at most ${most}, ${why}`);
      }
      for (const [one, other, why] of given(data.divides, values)) {
        if (values[other] % values[one] === 0n) continue;
        const problem = undivided(one, [one, values[one]], [other, values[other]]);
        throw new Refused(one, `${problem.message}; ${why}`);
      }
    }

    /** The value of a formula as a quotient, once its conditions hold. */
    function value(place, values) {
      const [names, run, , conditions] = data.formulas[place];
      for (const each of conditions) check(each, values);
      return run(...needed(names, values));
    }

    const text = (place) => data.formulas[place][2];
    const shares = globalThis.membillCalculator.shares(data, { value, check, text, letters });
    const states = globalThis.membillCalculator.states(data, value);
    const steps = globalThis.membillCalculator.steps(data.steps);
    const device = globalThis.membillCalculator.devices(data, { value, states, steps });
    const policy = ({ recompute }) => data.policies.indexOf(recompute);

    /** Every choice of the switches has a place, and under each policy there is every choice. */
    const chosen = ({ switches }, from = 0) =>
      Object.keys(data.switches).reduce((at, name) => 2 * at + (switches[name] ? 1 : 0), from);

    /** Lines of one formula, each so many times, those of one kind as one. */
    function lines(items, values) {
      const found = new Map();
      for (const { category, part, place, number, held: holds } of items) {
        const key = [category, part, place, ...holds].join("|");
        const before = found.get(key);
        const all = before ? plus([before.number, number]) : number;
        found.set(key, { category, part, place, number: all, held: holds });
      }
      return [...found.values()].map((line) => ({
        ...line,
        bytes: whole(times(value(line.place, values), line.number, line.held), line.part),
      }));
    }

    function activations(setting, items) {
      return items.map(({ part, own, number, held: holds }) => ({
        category: part.category,
        part: part.name,
        place: own.kept[chosen(setting, policy(setting))],
        number,
        held: holds,
      }));
    }

    const buffers = (items) =>
      items.map(({ part, own, number }) => ({
        category: "buffers",
        part: part.name,
        place: own.buffers,
        number,
        held: ONE,
      }));

    /** Tables that layers share, once each. */
    function tables(items) {
      const found = new Map();
      for (const [name, place] of items.flatMap(({ own }) => Object.entries(own.tables))) {
        found.set(`${name}|${place}`, {
          category: "tables",
          part: name,
          place,
          number: ONE,
          held: ONE,
        });
      }
      return [...found.values()];
    }

    /** Values for all letters of a setting on a stage. */
    function letters(setting, stage) {
      const { dims, degrees, more, b, T, dp, pp, chunks, micro_batches: m } = setting;
      return { ...dims, ...more, b, T, ...degrees, N_d: dp, p: pp, v: chunks, m, i: BigInt(stage) };
    }

    /** The bill of one stage of a setting. */
    function ofStage(setting, stage) {
      const values = letters(setting, stage);
      const items = shares.of(setting, values, stage);
      const parted = [...activations(setting, items), ...buffers(items), ...tables(items)];
      const entries = [...states.of(setting, items, values), ...lines(parted, values)].filter(
        ({ bytes }) => bytes !== 0n,
      );
      const total = entries.reduce((sum, { bytes }) => sum + bytes, 0n);
      return { stage, values, items, entries, total };
    }

    function* every({ pp }) {
      for (let stage = 0; stage < pp; stage += 1) yield stage;
    }

    /** The peak on the fullest of some stages, the first of equals, with the bill of that stage. */
    function peak(setting, stages = every(setting)) {
      const values = letters(setting, 0);
      agree(values);
      const sized = steps.sized(value, chosen(setting), values);
      let most = null;
      for (const stage of stages) {
        const bill = ofStage(setting, stage);
        const found = peakOf(device(setting, bill, sized, policy(setting)));
        if (most === null || found.bytes > most.bytes) most = { ...found, bill };
      }
      return most;
    }

    const parameters = ({ items, values }) => states.parameters(items, values);

    /** Letters that formulas of a model speak of, besides its dimensions and those of a plan. */
    function unknown({ architecture, dims, options }) {
      const places = data.architectures[architecture].parts.flatMap((part) => {
        const { weights, buffers: own, tables: shared, kept } = shares.variant(part, { options });
        const entries = weights.map((place) => data.weights[place][0]);
        return [...entries, own, ...Object.values(shared), ...kept];
      });
      const plan = Object.values(data.axes).map(({ letter }) => letter);
      const known = new Set([...Object.keys(dims), ...plan, "b", "T"]);
      const names = places.flatMap((place) => data.formulas[place][0]);
      return [...new Set(names)].filter((name) => !known.has(name));
    }

    /** The axes that divide anything of an architecture, whatever is chosen. */
    function axes(architecture) {
      const places = data.architectures[architecture].parts.flatMap((part) =>
        Object.values(part.variants).flatMap((place) => {
          const { weights, buffers: own, kept } = data.variants[place];
          return [...weights.map((weight) => data.weights[weight][0]), own, ...kept];
        }),
      );
      const names = new Set(places.flatMap((place) => data.formulas[place][0]));
      const used = Object.entries(data.axes).filter(([, { letter }]) => names.has(letter));
      return new Set(used.map(([name]) => name));
    }

    /** What must divide what for a step: names and a function of these, of both sides. */
    function conditions(setting) {
      gathered = new Set();
      try {
        peak(setting);
        return [...gathered].map((place) => data.checks[place].slice(0, 4));
      } finally {
        gathered = null;
      }
    }

    const { contenders } = shares;
    const degrees = Object.values(data.axes).map(({ letter }) => letter);
    return {
      degrees,
      axes,
      conditions,
      contenders,
      letters,
      limit,
      parameters,
      peak,
      text,
      unknown,
    };
  }

  Object.assign(globalThis.membillCalculator, { calculator });
})();
