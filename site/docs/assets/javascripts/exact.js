// Quotients of exact integers, as [above, below], and what is said where they are not allowed.
"use strict";

(() => {
  /** What is wrong with what a field says. */
  class Refused extends Error {
    constructor(field, message) {
      super(message);
      this.field = field;
    }
  }

  const grouped = (digits) => digits.toString().replace(/\B(?=(\d{3})+$)/g, ",");

  const ONE = [1n, 1n];
  const times = (...parts) => parts.reduce(([a, b], [c, d]) => [a * c, b * d], ONE);
  const plus = (parts) => parts.reduce(([a, b], [c, d]) => [a * d + c * b, b * d], [0n, 1n]);
  const less = ([a, b], [c, d]) => [a * d - c * b, b * d];
  const atMost = ([a, b], [c, d]) => a * d <= c * b;
  const ceiling = ([above, below]) => (above + below - 1n) / below;

  function whole([above, below], what) {
    if (above % below !== 0n) throw new Refused("", `${what} is not a whole number`);
    return above / below;
  }

  globalThis.membillCalculator = {
    Refused,
    grouped,
    ONE,
    times,
    plus,
    less,
    atMost,
    ceiling,
    whole,
  };
})();
