// The largest batch and the longest sequence that fit, by halving: a peak grows with both.
"use strict";

(() => {
  const MOST = 1n << 60n;
  const gcd = (one, other) => (other === 0n ? one : gcd(other, one % other));

  /** The largest count of steps, from 0, for which `fits` holds; it holds for all below it. */
  function largest(fits) {
    if (!fits(1n)) return 0n;
    let low = 1n;
    while (low < MOST && fits(low * 2n)) low *= 2n;
    let high = low * 2n;
    while (high - low > 1n) {
      const middle = (low + high) / 2n;
      if (fits(middle)) low = middle;
      else high = middle;
    }
    return low;
  }

  /** What a condition asks a letter to be a multiple of. */
  function multiple([below, divisor, above, dividend], letter, values) {
    if (below.includes(letter) || !above.includes(letter)) return 1n;
    const at = (number) => {
      const [over, under] = dividend(
        ...above.map((name) => (name === letter ? number : values[name])),
      );
      return over % under === 0n ? over / under : null;
    };
    const [small, unit] = divisor(...below.map((name) => values[name]));
    const [once, twice] = [at(1n), at(2n)];
    if (small % unit !== 0n || once === null || twice !== 2n * once) return 1n;
    return small / unit / gcd(small / unit, once);
  }

  /** What a letter must be a multiple of under a setting. */
  function step(engine, setting, letter) {
    const values = engine.letters(setting, 0);
    return engine
      .conditions(setting)
      .map((each) => multiple(each, letter, values))
      .reduce((common, each) => (common / gcd(common, each)) * each, 1n);
  }

  /** How far a letter can go alone within the memory, and what it is a multiple of. */
  function most(engine, setting, letter) {
    const unit = step(engine, setting, letter);
    const stages = engine.contenders(setting);
    const top = engine.limit(letter, engine.letters(setting, 0));
    const fits = (steps) =>
      (top === null || steps * unit <= top) &&
      engine.peak({ ...setting, [letter]: steps * unit }, stages).bytes <= setting.memory;
    return { value: unit * largest(fits), step: unit };
  }

  Object.assign(globalThis.membillCalculator, { most });
})();
