// What happens in a part of a model during a step, unpacked from the tables that the engine has
// written: each moment is a row of what has changed since the one before.
"use strict";

(() => {
  const { whole } = globalThis.membillCalculator;

  function steps({ digits, accounts, keys, paths, ...tables }) {
    const codesOfKey = 2 * accounts.length;
    const places = new Map([...digits].map((each, at) => [each, at]));

    function number(text) {
      return [...text].reduce((sum, each) => sum * digits.length + places.get(each), 0);
    }

    function unpacked({ width, text }) {
      return text
        .split(" ")
        .map((row) =>
          Array.from({ length: row.length / width }, (_, at) =>
            number(row.slice(at * width, (at + 1) * width)),
          ),
        );
    }

    const [sums, rows, nodes, ways] = ["sums", "rows", "nodes", "ways"].map((name) =>
      unpacked(tables[name]),
    );
    const changes = rows.map(([path, ...codes]) => {
      const of = (code) => [
        Math.floor(code / codesOfKey),
        Math.floor((code % codesOfKey) / 2),
        code % 2 === 1,
      ];
      return { path, codes: codes.map(of) };
    });
    const flat = new Map(); // rows by the place of their node

    function rowsOf(place) {
      if (!flat.has(place)) {
        const inner = place < rows.length ? [changes[place]] : nodes[place - rows.length];
        flat.set(place, place < rows.length ? inner : inner.flatMap(rowsOf));
      }
      return flat.get(place);
    }

    /** Sums and moments in bytes, where storages have these sizes; each is found once. */
    function sized(value, mesh, values) {
      const known = new Map();
      const moments = new Map();

      function size(key) {
        if (!known.has(key)) known.set(key, whole(value(keys[key][mesh], values), "a storage"));
        return known.get(key);
      }

      const sum = (place) => sums[place].reduce((all, key) => all + size(key), 0n);

      /** The fullest moment, the first of equals; null if there is none. */
      function found(place, first, added) {
        const now = accounts.map(() => 0n);
        let most = null;
        for (const { path, codes } of rowsOf(place)) {
          for (const [key, account, less] of codes) {
            now[account] += less ? -size(key) : size(key);
          }
          const [usual, tables, working, all, latest] = now;
          const [kept, made] = [first ? usual + tables : usual, added ? latest : all];
          const bytes = kept + working + made;
          if (most === null || bytes > most.bytes) most = { path, kept, working, made, bytes };
        }
        if (most === null) return null;
        const [path, again] = paths[most.path];
        return { ...most, path, again: again === 1 };
      }

      /** The same. first: of the first part of its kind. added: to gradients that are there. */
      function fullest(place, first, added) {
        const name = [place, first, added].join();
        if (!moments.has(name)) moments.set(name, found(place, first, added));
        return moments.get(name);
      }

      return { sum, fullest };
    }

    return { sized, way: (place) => ways[place] };
  }

  Object.assign(globalThis.membillCalculator, { steps });
})();
