// Which layers of a model one device runs, and how many micro-batches of each it holds.
"use strict";

(() => {
  const { Refused, ONE, times, atMost, whole } = globalThis.membillCalculator;
  const MOST_LAYERS = 10000n;

  function shares(data, { value, check, text, letters }) {
    /** How many micro-batches a stage holds of what it runs. */
    function held(setting, values) {
      if (!setting.schedule) return { start: ONE, layers: ONE, end: ONE };
      const { start, layers, end, conditions } = data.schedules[setting.schedule];
      for (const each of conditions) check(each, values);
      return {
        start: value(start, values),
        layers: value(layers, values),
        end: value(end, values),
      };
    }

    /** How many layers a group has; a pattern that they cut short ends early. */
    function count({ times: each, parts }, values) {
      const number = times(value(each, values), [BigInt(parts.length), 1n]);
      if (number[0] < 0n) throw new Refused("L", `${text(each)} is less than no layers`);
      return number;
    }

    /** Every layer of a model in order, as the place of its part. */
    function order(spec, values) {
      return spec.groups.flatMap((group) => {
        const number = whole(count(group, values), text(group.times));
        if (number > MOST_LAYERS) {
          throw new Refused("L", `a pipeline of more than ${MOST_LAYERS} layers is not computed`);
        }
        const { parts } = group;
        return Array.from({ length: Number(number) }, (_, at) => parts[at % parts.length]);
      });
    }

    /** The layers on a stage: [part, how many]. */
    function layers(spec, setting, values, stage) {
      if (!setting.schedule) {
        return spec.groups.flatMap((group) => {
          const number = times(count(group, values), [1n, BigInt(group.parts.length)]);
          return group.parts.map((place) => [spec.parts[place], number]);
        });
      }
      const all = order(spec, values);
      const chunked = data.schedules[setting.schedule].chunked;
      const pieces = values.p * (chunked ? values.v : 1n);
      if (BigInt(all.length) % pieces !== 0n) {
        const what = chunked
          ? `${pieces} chunks (p = ${values.p}, v = ${values.v})`
          : `p = ${pieces}`;
        throw new Refused("p", `${what} does not divide the ${all.length} layers`);
      }
      const length = all.length / Number(pieces);
      const mine = new Map();
      all.forEach((place, at) => {
        if (Math.floor(at / length) % Number(values.p) === stage) {
          mine.set(place, (mine.get(place) ?? 0n) + 1n);
        }
      });
      return [...mine].map(([place, number]) => [spec.parts[place], [number, 1n]]);
    }

    /** A part with the options chosen: its weights, buffers, tables, and what it keeps. */
    function variant(part, setting) {
      const chosen = part.options.map((name) => setting.options[name]);
      return data.variants[part.variants[chosen.join("|")]];
    }

    /** What a stage runs: parts, how many of each, and micro-batches held of each. */
    function of(setting, values, stage) {
      const spec = data.architectures[setting.architecture];
      const hold = held(setting, values);
      const share = (part, number, holds, tied = false) => ({
        part,
        number,
        held: holds,
        tied,
        own: variant(part, setting),
      });
      const found = layers(spec, setting, values, stage).map(([part, number]) =>
        share(part, number, hold.layers),
      );
      if (stage === 0) found.unshift(share(spec.parts[0], ONE, hold.start));
      if (!setting.schedule || BigInt(stage) === values.p - 1n) {
        const tied = stage === 0 && setting.options.tied === "on";
        found.push(share(spec.parts.at(-1), ONE, hold.end, tied));
      }
      return found;
    }

    /** Whether a stage runs nothing that another does not run as often and hold as much of. */
    function within(one, other) {
      return one.every((share) =>
        other.some(
          ({ part, tied, number, held: holds }) =>
            part === share.part &&
            tied === share.tied &&
            atMost(share.number, number) &&
            atMost(times(share.number, share.held), times(number, holds)),
        ),
      );
    }

    /** The stages one of which is the fullest, whatever b, T and the memory. */
    function contenders(setting) {
      const kept = [];
      for (let stage = 0; stage < setting.pp; stage += 1) {
        const items = of(setting, letters(setting, stage), stage);
        if (!kept.some((other) => within(items, other.items))) kept.push({ stage, items });
      }
      return kept.map(({ stage }) => stage);
    }

    return { of, variant, contenders };
  }

  Object.assign(globalThis.membillCalculator, { shares });
})();
