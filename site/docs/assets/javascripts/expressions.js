// Expressions as the data of configurations write them: a number, a letter, or [sign, ...parts].
"use strict";

(() => {
  /** The value of an expression as a quotient. */
  function evaluated(expression, sizes) {
    if (typeof expression === "number") return [BigInt(expression), 1n];
    if (typeof expression === "string") return [sizes[expression], 1n];
    const [sign, ...parts] = expression;
    const [first, ...others] = parts.map((each) => evaluated(each, sizes));
    const join = {
      "+": ([a, b], [c, d]) => [a * d + c * b, b * d],
      "*": ([a, b], [c, d]) => [a * c, b * d],
      "/": ([a, b], [c, d]) => [a * d, b * c],
    }[sign];
    return others.reduce(join, first);
  }

  function text(expression) {
    if (!Array.isArray(expression)) return String(expression);
    const [sign, ...parts] = expression;
    return parts.map(text).join({ "+": " + ", "*": "·", "/": "/" }[sign]);
  }

  const letters = (expression) =>
    Array.isArray(expression) ? expression.slice(1).flatMap(letters) : [expression];

  /** A quotient as a whole number, null if it is none. */
  const fraction = ([above, below]) => (above % below === 0n ? above / below : null);

  Object.assign(globalThis.membillCalculator, {
    expressions: { evaluated, text, letters, fraction },
  });
})();
