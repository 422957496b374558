// The peak of a training step: everything on a device at each moment that can be the fullest. It
// takes the steps of engine/membill/events.py.
"use strict";

(() => {
  const { ONE, times, less, ahead } = globalThis.membillCalculator;
  const [FIRST, LAST] = ["first layer", "last layer"];

  const event = (phase, lines, item = null, place = "", path = "") => {
    const entries = lines.filter(([, bytes]) => bytes !== 0n);
    const bytes = entries.reduce((sum, [, each]) => sum + each, 0n);
    return { phase, item, part: item?.part.name ?? "", place, path, entries, bytes };
  };

  /** How many of each part keep what backward needs besides one of an item that runs. */
  const left = (item, done) => (other) => {
    const others = less(times(other.number, other.held), done(other));
    return other === item ? less(others, ONE) : others;
  };

  /** What is there in forward, with what so many of each part keep. */
  const soFar = (device, number) => [
    ...device.always,
    ...device.kept(number),
    ...device.tables(() => true),
    ...(device.added ? device.allGradients : []),
  ];

  /** Forward of the last layer of each kind and of the end, and when it is over. */
  function* forward(device) {
    for (const item of device.items) {
      if (!item.passing) continue;
      const lines = [
        ...soFar(device, left(item, ahead(item, false))),
        ...(item.isEnd ? device.outputs(false) : []),
        ...device.moment(item, item.passing),
      ];
      yield event("forward", lines, item, item.isLayer ? LAST : "", item.passing.path);
    }
    const everything = soFar(device, ({ number, held }) => times(number, held));
    yield event("end of forward", [...everything, ...device.outputs(false)]);
  }

  /** Whether the tables of another item are there while one runs backward, or its first one. */
  const isThere = (item, first) => (other) => {
    if (other === item) return !first;
    if (other.group !== item.group) return other.group < item.group;
    return !first || other.slot < item.slot;
  };

  /** All that is on the device besides an item that runs backward. */
  function around(device, item, first) {
    const done = ahead(item, first);
    return [
      ...device.always,
      ...device.kept(left(item, done)),
      ...device.tables(isThere(item, first)),
      ...device.outputs(true),
      ...device.gradients(done),
    ];
  }

  /** Backward of the end, of the last and the first layer of each kind, of the start. */
  function* backward(device) {
    for (const item of [...device.items].reverse()) {
      for (const first of item.isLayer ? [false, true] : [true]) {
        const at = first ? item.first : item.usual;
        const [above, below] = first ? item.number : less(item.number, ONE);
        if (!at || above / below <= 0n) continue;
        const phase = at.again ? "recomputation" : "backward";
        const place = first ? FIRST : LAST;
        const lines = [...around(device, item, first), ...device.moment(item, at)];
        yield event(phase, lines, item, item.isLayer ? place : "", at.path);
      }
    }
  }

  function* events(device) {
    yield* forward(device);
    yield* backward(device);
    const over = [...device.always, ...device.allGradients, ...device.outputs(false)];
    yield event("update", [...over, ...device.update()]);
  }

  /** The largest event of a step, the first of equals. */
  function peak(device) {
    let most = null;
    for (const each of events(device)) if (most === null || each.bytes > most.bytes) most = each;
    return most;
  }

  /** An event in words: `backward of llama, last layer, at mlp.product`. */
  const said = ({ phase, part, place, path }) =>
    [part ? `${phase} of ${part}` : phase, place, path && `at ${path}`].filter(Boolean).join(", ");

  Object.assign(globalThis.membillCalculator, { peak, said });
})();
