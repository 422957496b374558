// A device in a step: the parts that it runs, in order, and what is on it while each one runs, as
// [category, bytes]. It takes the steps of engine/membill/device.py.
"use strict";

(() => {
  const { ONE, times, plus, less, ceiling, whole } = globalThis.membillCalculator;
  const NONE = [0n, 1n];
  const [WEIGHTS, GRADIENTS, BUFFERS, TABLES] = ["weights", "gradients", "buffers", "tables"];
  const [OUTPUTS, BATCH, WORKING] = ["outputs held", "batch", "working set"];
  const [GATHERED, UPDATE] = ["gathered weights", "made by the update"];

  function devices(data, { value, states, steps }) {
    /** Where parts stand: the place of their group, and their turn in it. */
    function placed(spec, part) {
      const place = spec.parts.indexOf(part);
      const group = spec.groups.findIndex(({ parts }) => parts.includes(place));
      const slot = spec.groups[group]?.parts.indexOf(place) ?? 0;
      const outer = place === 0 ? -1 : spec.groups.length;
      return { isLayer: group >= 0, group: group < 0 ? outer : group, slot };
    }

    /** The parts of a bill in the order of forward. latest: whether gradients are added. */
    function ordered(setting, { items, values }, sized, policy, latest) {
      const spec = data.architectures[setting.architecture];
      const seen = new Set();

      /** Tables that no part before reads, in bytes. */
      function tables(own) {
        const found = Object.entries(own).filter((each) => !seen.has(each.join()));
        for (const each of found) seen.add(each.join());
        return found.map(([name, place]) => whole(value(place, values), name));
      }

      const found = items.map((share) => {
        const [made, held, batch, output, ...ways] = share.own.step;
        const [kept, backward, forward] = steps.way(ways[policy]);
        const own = tables(share.own.tables);
        return {
          ...share,
          ...placed(spec, share.part),
          isEnd: share.part === spec.parts.at(-1),
          tables: own,
          kept: sized.sum(kept),
          made: sized.sum(made),
          outputs: sized.sum(held),
          batch: sized.sum(batch),
          output: sized.sum(output),
          weights: states.sizes(share, values, false),
          shared: states.sizes(share, values, true),
          usual: sized.fullest(backward, false, latest),
          first: sized.fullest(backward, own.length > 0, latest),
          passing: sized.fullest(forward, false, latest),
        };
      });
      return found.sort((one, other) => one.group - other.group || one.slot - other.slot);
    }

    /** A device that has this bill. sized: sizes of a step. policy: the place of that. */
    function device(setting, bill, sized, policy) {
      const recipe = data.recipes[setting.recipe];
      const { values, entries } = bill;
      const divided = states.divided(setting);
      const added = recipe.added || (setting.schedule !== "" && values.m !== 1n);
      const items = ordered(setting, bill, sized, policy, added && !divided.has(GRADIENTS));
      const kinds = new Map(recipe.states.map(({ name, kind }) => [name, kind]));
      const kind = ({ part, category }) => (part ? "" : (kinds.get(category) ?? ""));
      const some = (size, number, what) => whole(times([size, 1n], number), what);
      const named = (lines) => lines.map(({ category, bytes }) => [category, bytes]);

      const isAlways = (entry) =>
        entry.category === BUFFERS || !["", GRADIENTS].includes(kind(entry));
      const always = [
        ...named(entries.filter(isAlways)),
        ...items.map(({ batch, held }) => [BATCH, some(batch, held, BATCH)]),
      ];
      const allGradients = named(entries.filter((entry) => kind(entry) === GRADIENTS));

      /** What parts keep for backward, of so many of each. */
      const kept = (left) =>
        items.map((item) => [item.part.category, some(item.kept, left(item), item.part.name)]);

      const tables = (there) =>
        items.filter(there).flatMap((item) => item.tables.map((size) => [TABLES, size]));

      /** What the model returns; and the gradient of that, if `root`. */
      const outputs = (root) =>
        items
          .filter(({ isEnd }) => isEnd)
          .flatMap(({ outputs: held, output }) => [
            [OUTPUTS, held],
            [WORKING, root ? output : 0n],
          ]);

      /** Gradients that are there once backward of so many of each item has run. */
      function gradients(done) {
        if (added) {
          const waiting = items.filter((item) => item.tied && done(item)[0] !== 0n);
          return [...allGradients, ...waiting.map(({ shared }) => [WORKING, shared])];
        }
        const all = plus(items.map((item) => times([item.made, 1n], done(item))));
        if (!divided.has(GRADIENTS)) return [[GRADIENTS, whole(all, GRADIENTS)]];
        return [[GRADIENTS, ceiling(times(all, [1n, values.N_d]))]];
      }

      /** What an item has alive at one of its moments, beyond what is there without it. */
      const moment = ({ part, weights }, at) => [
        [part.category, at.kept],
        [GRADIENTS, at.made],
        [WORKING, at.working],
        [GATHERED, divided.has(WEIGHTS) ? weights : 0n],
      ];

      const update = () =>
        states.of(setting, bill.items, values, "step").map(({ bytes }) => [UPDATE, bytes]);

      return {
        items,
        added,
        always,
        allGradients,
        kept,
        tables,
        outputs,
        gradients,
        moment,
        update,
      };
    }

    return device;
  }

  /** How many of each item run backward before the last one of `item` does, or the first. */
  const ahead = (item, first) => (other) => {
    if (other.group !== item.group) return other.group > item.group ? other.number : NONE;
    const later = other.slot > item.slot;
    if (first) return later ? other.number : less(other.number, ONE);
    return later ? ONE : NONE;
  };

  Object.assign(globalThis.membillCalculator, { devices, ahead });
})();
