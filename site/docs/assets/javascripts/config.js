// A model's dimensions from a Hugging Face config.json, as the data of its model_type say. It takes
// the steps that engine/membill/config.py lists, with the engine's messages.
"use strict";

(() => {
  const { Refused, json, dimensions } = globalThis.membillCalculator;
  const { same, shown } = json;
  const { reading, checkRequired, readSizes, checkSizes, isAmong, deep } = dimensions;
  const data = globalThis.membill;

  /** A configuration that notes what it is asked for: the rest of a file says nothing of sizes. */
  class Noted extends Map {
    asked = new Set();

    get(key) {
      this.asked.add(key);
      return super.get(key);
    }

    has(key) {
      this.asked.add(key);
      return super.has(key);
    }
  }
  const { configurations, bytes } = data.files;
  const [TYPE, CLASSES, INNER] = ["model_type", "architectures", "text_config"];
  const SPELLED = new Map([
    [true, "on"],
    [false, "off"],
  ]);

  function options(found, class_) {
    const chosen = Object.entries(found.spec.classes[class_]);
    for (const [name, { key, absent, values }] of Object.entries(found.spec.options)) {
      const value = found.get(key) === undefined ? absent : found.get(key);
      const match = values.find(([of]) => same(value, of));
      if (!match)
        throw found.unsupported(
          key,
          value,
          values.map(([of]) => of),
        );
      chosen.push([name, match[1]]);
    }
    const unusual = chosen.filter(([name, value]) => value !== found.spec.usual[name]);
    return Object.fromEntries(
      unusual.map(([name, value]) => [name, SPELLED.get(value) ?? String(value)]),
    );
  }

  /** How a configuration is read: [model_type, spec]; undefined if it is not known. */
  function chosen(config) {
    const classes = config.get(CLASSES);
    const all = Object.entries(configurations).flatMap(([kind, specs]) =>
      specs.map((spec) => [kind, spec]),
    );
    const fits = (kind, spec) =>
      config.has(TYPE)
        ? kind === config.get(TYPE)
        : Array.isArray(classes) &&
          Object.keys(spec.classes).some((name) => classes.includes(name));
    const described = ({ when, given }) =>
      Object.entries(when).every(([key, values]) => isAmong(deep(config, key), values)) &&
      given.every((key) => ![undefined, null].includes(deep(config, key)));
    return all.find(([kind, spec]) => fits(kind, spec) && described(spec));
  }

  /** The whole of a configuration or its text_config, and how that is read. */
  function found(config, place) {
    const known = Object.keys(configurations).join(", ");
    const refuse = (message) => new Refused("file", message);
    const quoted = (value) => (typeof value === "string" ? `'${value}'` : shown(value));
    const whole = chosen(config);
    if (whole) return [config, place, ...whole];
    const inner = config.get(INNER);
    if (!(inner instanceof Map)) {
      if (!config.has(TYPE)) throw refuse(`${place} has no ${TYPE}. Known: ${known}`);
      throw refuse(`unknown ${TYPE} ${quoted(config.get(TYPE))} in ${place}. Known: ${known}`);
    }
    const within = chosen(inner);
    if (!within) {
      const kind = quoted(inner.get(TYPE) ?? null);
      throw refuse(`unknown ${TYPE} ${kind} of ${INNER} in ${place}. Known: ${known}`);
    }
    const keys = Object.values(within[1].options).map(({ key }) => key);
    const around = keys.filter((key) => config.has(key)).map((key) => [key, config.get(key)]);
    return [new Map([...around, ...inner]), `${place}, ${INNER}`, ...within];
  }

  function classOf(config, spec, now) {
    const classes = config.get(CLASSES) ?? null;
    const names = Object.keys(spec.classes);
    if (classes === null) return names[0];
    const name = names.find((each) => Array.isArray(classes) && classes.includes(each));
    if (name === undefined)
      throw now.unsupported(
        CLASSES,
        classes,
        names.map((each) => [each]),
      );
    return name;
  }

  /** The model that a configuration describes. */
  function modelOf(config, place) {
    const [all, where, kind, spec] = found(config, place);
    const inner = new Noted(all);
    chosen(inner);
    const now = reading(where, inner, spec, kind);
    const class_ = classOf(inner, spec, now);
    checkRequired(now);
    readSizes(now, class_);
    const choices = options(now, class_);
    checkSizes(now);
    const helpers = spec.fields.filter(({ helper }) => helper).map(({ symbol }) => symbol);
    const dims = Object.entries(now.sizes).filter(([name]) => !helpers.includes(name));
    return {
      architecture: spec.architecture,
      dims: Object.fromEntries(dims.map(([name, size]) => [name, Number(size)])),
      options: choices,
      config: brief(inner, all, spec),
    };
  }

  /** What says the same of sizes: less keys that nothing asks for and lists that only agree. */
  function brief({ asked }, all, { cycles, fields }) {
    const keys = fields.filter(({ entries }) => entries).flatMap(({ keys: each }) => each);
    const number = (value) => {
      if (Array.isArray(value)) return BigInt(value.length);
      return value instanceof Map ? BigInt(value.size) : value;
    };
    const kept = [...all].filter(([key]) => asked.has(key) && !Object.hasOwn(cycles, key));
    return new Map(kept.map(([key, each]) => [key, keys.includes(key) ? number(each) : each]));
  }

  /** The model that the file of a config.json describes; Refused says what is wrong with it. */
  const read = async (file) => modelOf(await json.readObject(file, bytes), file.name);

  /** The same of what an address tells of such a file. */
  const restored = (text) => {
    const place = "the configuration in the address";
    return modelOf(json.object(text, place), place);
  };

  Object.assign(globalThis.membillCalculator, { config: { read, restored } });
})();
