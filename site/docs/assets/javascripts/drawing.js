// What the calculator draws: the peak as a bar against the memory, and over length.
"use strict";

(() => {
  const { form, words, show, Refused } = globalThis.membillCalculator;
  if (!form) return;
  const { data, engine, element } = form;
  const SVG = "http://www.w3.org/2000/svg";
  const WIDTH = 440;
  const FIRST = 1024n;
  const LENGTHS = Array.from({ length: 8 }, (_, at) => FIRST << BigInt(at));

  function svg(tag, attributes, ...children) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  const image = (height, label, ...children) =>
    svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": label },
      ...children,
    );
  const write = (x, y, text, kind) => svg("text", { x, y, class: kind }, text);

  /** A category has one colour, whatever else there is, and stands in the order of these. */
  const place = ([category]) => data.colours[category];

  /** Categories end to end, and the memory as a line across. */
  function bar(peak, { memory }, unit) {
    const groups = show.categories(peak.entries).sort((one, other) => place(one) - place(other));
    const seen = groups.filter(([, bytes]) => !/^0\.0+%/.test(words.percent(bytes, peak.bytes)));
    const longest = peak.bytes > memory ? peak.bytes : memory;
    const across = (bytes) => (Number((bytes * 10000n) / longest) / 10000) * (WIDTH - 4) + 2;
    let before = 0n;
    const parts = groups.map(([category, bytes]) => {
      const [x, end] = [across(before), across(before + bytes)];
      before += bytes;
      const title = svg("title", {}, `${category}: ${words.size(bytes, unit)}`);
      const kind = `fill-${place([category])}`;
      return svg("rect", { x, y: 8, width: end - x, height: 28, class: kind }, title);
    });
    const whole = { x: 2, y: 8, width: across(longest) - 2, height: 28, class: "room" };
    const limit = svg("path", { class: "limit", d: `M${across(memory)} 2V42` });
    const said = seen.map(([category, bytes]) => `${category} ${words.size(bytes, unit)}`);
    const label = `Stacked bar: ${said.join(", ")}; a line marks ${words.size(memory, unit)}`;
    const entry = (mark, text) =>
      element("li", {}, svg("svg", { width: 12, height: 12, "aria-hidden": "true" }, mark), text);
    const legend = seen.map(([category, bytes]) => {
      const swatch = svg("rect", { width: 12, height: 12, class: `fill-${place([category])}` });
      return entry(swatch, `${category} ${words.size(bytes, unit)}`);
    });
    const line = svg("path", { class: "limit", d: "M6 0V12" });
    const device = entry(line, `memory of the device ${words.size(memory, unit)}`);
    const key = element("ul", { class: "legend" }, ...legend, device);
    const drawn = image(44, label, svg("rect", whole), ...parts, limit);
    drawn.setAttribute("preserveAspectRatio", "none");
    return element("figure", { class: "chart stacked-bar" }, drawn, key);
  }

  /** [T, bytes] along powers of two and at T; lengths that the plan does not allow are left out. */
  function lengths(setting) {
    const all = [...new Set([...LENGTHS, setting.T])].sort((one, other) => Number(one - other));
    const stages = engine.contenders(setting);
    return all.flatMap((T) => {
      try {
        return [[T, engine.peak({ ...setting, T }, stages).bytes]];
      } catch (problem) {
        if (!(problem instanceof Refused)) throw problem;
        return [];
      }
    });
  }

  /** 1, 2 and 5 times powers of ten in the unit, from the last one at or below to the first above. */
  function ticks(least, largest, unit) {
    const found = [];
    for (let power = -6n; power < 12n; power += 1n) {
      for (const first of [1n, 2n, 5n]) {
        const scaled = first * words.UNITS[unit] * 10n ** (power < 0n ? 0n : power);
        found.push(power < 0n ? scaled / 10n ** -power : scaled);
      }
    }
    const from = found.findLastIndex((each) => each <= least);
    const to = found.findIndex((each) => each >= largest);
    const kept = found.slice(Math.max(from, 0), to < 0 ? undefined : to + 1);
    return kept.length > 8 ? kept.filter((_, at) => (kept.length - 1 - at) % 3 === 0) : kept;
  }

  /** How many tokens a label says: 8k for 8192. */
  const short = (T) => (T % 1024n === 0n ? `${T / 1024n}k` : `${T}`);

  function curve(setting, unit) {
    const points = lengths(setting);
    if (points.length < 2)
      return element("p", { class: "small" }, "The plan allows too few lengths to draw.");
    const bytes = [...points.map(([, each]) => each), setting.memory];
    const [least, largest] = bytes.reduce(
      ([a, b], each) => [each < a ? each : a, each > b ? each : b],
      [bytes[0], bytes[0]],
    );
    const marks = ticks(least, largest, unit);
    const log = (value) => Math.log2(Number(value));
    const between = (value, from, to) => (log(value) - log(from)) / (log(to) - log(from) || 1);
    const low = marks[0] < least ? marks[0] : least;
    const high = marks.at(-1) > largest ? marks.at(-1) : largest;
    const x = (T) => 72 + between(T, points[0][0], points.at(-1)[0]) * 348;
    const y = (value) => 236 - between(value, low, high) * 222;
    const grid = marks.flatMap((each) => [
      svg("path", { class: "grid", d: `M72 ${y(each)}H420` }),
      write(66, y(each) + 4, words.size(each, unit).replace(/\.0+ /, " "), "end"),
    ]);
    const path = points.map(([T, each], at) => `${at ? "L" : "M"}${x(T)} ${y(each)}`).join("");
    const dots = points.map(([T, each]) =>
      svg(
        "circle",
        { cx: x(T), cy: y(each), r: T === setting.T ? 5 : 2.5, class: "fill-0" },
        svg("title", {}, `T = ${words.grouped(T)}: ${words.size(each, unit)}`),
      ),
    );
    const names = points.filter(([T]) => T % FIRST === 0n && LENGTHS.includes(T));
    const said = points.map(([T, each]) => `${words.grouped(T)} tokens ${words.size(each, unit)}`);
    const label = `Line chart of the peak of a step over the length of a sequence: ${said.join(", ")}`;
    const drawn = image(
      284,
      label,
      ...grid,
      svg("path", { class: "limit", d: `M72 ${y(setting.memory)}H420` }),
      svg("path", { class: "line-0", d: path }),
      ...dots,
      ...names.map(([T]) => write(x(T), 256, short(T), "middle")),
      write(246, 276, "tokens in a sequence", "middle"),
    );
    const rows = points.map(([T, each]) =>
      show.row(
        show.head(words.grouped(T)),
        show.cell(words.exact(each)),
        show.cell(words.size(each, unit)),
      ),
    );
    const header = show.heading("T", "exact", `in ${unit}`);
    const data = element(
      "details",
      {},
      element("summary", {}, "The data as a table"),
      show.table("The peak over length", header, rows),
    );
    return element("figure", { class: "chart" }, drawn, data);
  }

  Object.assign(show, { bar, curve });
})();
