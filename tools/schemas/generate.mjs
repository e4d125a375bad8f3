// Values for a schema: some that fit it, and changes to them at any depth, most of which do not.
import { linearPattern, parsePattern } from "../../dist/core/index.js";

/** A repeatable source of chance. */
export function chance(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    below: (count) => Math.floor(next() * count),
    pick: (list) => list[Math.floor(next() * list.length)],
    coin: (odds = 0.5) => next() < odds,
  };
}

const texts = [
  "",
  "a",
  "hello",
  "Hello World",
  "0",
  "-1",
  "true",
  "null",
  "2026-11-16",
  "é",
  "😀 ok",
  " padded ",
  "a/b?c=d#e",
  "line\nbreak",
  "x".repeat(40),
  "SELECT",
  "id_1",
  "foo-bar",
  "12ab",
];
const formats = {
  email: ["a@example.com", "first.last@mail.example.org", "a@", "@b.example", "no"],
  uri: ["https://example.com/a?b=c#d", "urn:x:y", "mailto:a@example.com", "not a uri", "/relative", "http://[::1]/"],
  uuid: [
    "123e4567-e89b-12d3-a456-426614174000",
    "123E4567-E89B-12D3-A456-426614174000",
    "123e4567",
    "00000000-0000-0000-0000-000000000000",
  ],
  "date-time": ["2026-11-16T10:00:00Z", "2026-11-16T10:00:00+02:00", "2026-02-30T10:00:00Z", "2026-11-16", "2026-11-16T25:00:00Z"],
  date: ["2026-11-16", "2024-02-29", "2026-02-29", "2026-13-01", "20261116"],
  time: ["10:00:00Z", "10:00:00", "24:00:00Z"],
  ipv4: ["127.0.0.1", "256.1.1.1", "1.2.3"],
  ipv6: ["::1", "2001:db8::1", "1.2.3.4", ":::"],
  hostname: ["example.com", "a-b.example", "-bad.example", "under_score.example"],
};

export function generate(schema, root, random, depth = 0) {
  if (schema === true || schema === undefined || depth > 12) return anything(random);
  if (schema === false || typeof schema !== "object" || schema === null) return anything(random);
  if (typeof schema.$ref === "string") return generate(at(root, schema.$ref), root, random, depth + 1);
  if (Array.isArray(schema.allOf)) {
    const { allOf, ...rest } = schema;
    const parts = [rest, ...allOf].map((part) => generate(part, root, random, depth + 1));
    return parts.every((part) => typeof part === "object" && part !== null && !Array.isArray(part))
      ? Object.assign({}, ...parts)
      : random.pick(parts);
  }
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum)) return random.pick(schema.enum);
  const union = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(union) && schema.properties === undefined) return generate(random.pick(union), root, random, depth + 1);
  const types = Array.isArray(schema.type) ? schema.type : schema.type === undefined ? [] : [schema.type];
  const type = types.length > 0 ? random.pick(types) : schema.properties !== undefined ? "object" : undefined;
  switch (type) {
    case "string":
      return text(schema, random);
    case "integer":
      return Math.round(number(schema, random));
    case "number":
      return number(schema, random);
    case "boolean":
      return random.coin();
    case "null":
      return null;
    case "array":
      return array(schema, root, random, depth);
    case "object":
      return object(schema, root, random, depth);
    default:
      return anything(random);
  }
}

function at(root, reference) {
  if (!reference.startsWith("#")) return true;
  return decodeURIComponent(reference.slice(1))
    .split("/")
    .slice(1)
    .reduce((value, raw) => value?.[raw.replaceAll("~1", "/").replaceAll("~0", "~")], root);
}

function text(schema, random) {
  if (typeof schema.pattern === "string" && random.coin(0.8)) return matching(schema.pattern, random);
  if (formats[schema.format] !== undefined && random.coin(0.9)) return random.pick(formats[schema.format]);
  let made = random.pick(texts);
  const least = schema.minLength ?? 0;
  while ([...made].length < least && made.length < 5000) made += random.pick(["a", "z", "0", "é"]);
  return schema.maxLength === undefined ? made : [...made].slice(0, schema.maxLength).join("");
}

/** A text that fits a pattern, mostly. */
function matching(source, random) {
  const written = (node) => {
    switch (node.kind) {
      case "one":
        return random.pick(charactersOf(node.source));
      case "sequence":
        return node.of.map(written).join("");
      case "choice":
        return written(random.pick(node.of));
      case "repeat": {
        const most = Math.min(Number.isFinite(node.max) ? node.max : node.min + 4, node.min + 6);
        return Array.from({ length: node.min + random.below(most - node.min + 1) }, () => written(node.of)).join("");
      }
      default:
        return "";
    }
  };
  try {
    return written(parsePattern(source));
  } catch {
    return random.pick(texts);
  }
}

const alphabet = [..."abcxyzABCXYZ0123456789_-./:;,=@!#()[]{}+*? \n\té😀'\"\\|^$&%~<>"];
const known = new Map();
function charactersOf(source) {
  let found = known.get(source);
  if (found === undefined) {
    const pattern = linearPattern(`^(?:${source})$`);
    found = alphabet.filter((character) => pattern.test(character));
    if (found.length === 0) found = ["a"];
    known.set(source, found);
  }
  return found;
}

function number(schema, random) {
  const low = schema.minimum ?? (schema.exclusiveMinimum === undefined ? undefined : schema.exclusiveMinimum + 1);
  const high = schema.maximum ?? (schema.exclusiveMaximum === undefined ? undefined : schema.exclusiveMaximum - 1);
  if (low !== undefined && high !== undefined)
    return random.coin(0.2) ? random.pick([low, high]) : Math.floor(low + random.next() * (high - low));
  if (low !== undefined) return low + random.pick([0, 1, 10, 0.5, 1000]);
  if (high !== undefined) return high - random.pick([0, 1, 10, 0.5]);
  return random.pick([0, 1, -1, 42, 3.5, -7.25, 2 ** 31, 2 ** 40, -(2 ** 53) + 1, 1e15, 1e-7, 100]);
}

function array(schema, root, random, depth) {
  const least = schema.minItems ?? 0;
  const most = Math.min(schema.maxItems ?? least + 3, least + 3);
  const length = depth > 8 ? least : least + random.below(Math.max(most - least, 0) + 1);
  return Array.from({ length }, (_, index) => generate(schema.prefixItems?.[index] ?? schema.items, root, random, depth + 1));
}

function object(schema, root, random, depth) {
  const made = {};
  const required = schema.required ?? [];
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    if (required.includes(name) || random.coin(depth > 5 ? 0.2 : 0.55)) define(made, name, generate(property, root, random, depth + 1));
  for (const name of required) if (!Object.hasOwn(made, name)) define(made, name, anything(random));
  const rest = schema.additionalProperties;
  if (rest !== false && random.coin(rest === undefined ? 0.15 : 0.7))
    for (let count = random.below(3); count >= 0; count--)
      define(made, random.pick(["extra", "x-y", "Zeta", "0", "__proto__"]), generate(rest, root, random, depth + 1));
  const union = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(union)) {
    const part = generate(random.pick(union), root, random, depth + 1);
    if (typeof part === "object" && part !== null && !Array.isArray(part))
      for (const [name, value] of Object.entries(part)) define(made, name, value);
  }
  return made;
}

function define(object, name, value) {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

function anything(random) {
  return random.pick([
    null,
    true,
    false,
    0,
    1,
    -2.5,
    12345678901,
    "",
    "text",
    "3",
    [],
    [1, "a", null],
    {},
    { a: 1, b: [true] },
    [[]],
    { nested: { deep: [{}] } },
  ]);
}

/** A copy with one change, at any depth. */
export function mutated(value, random) {
  const copy = structuredClone(value);
  const places = [];
  const walk = (holder, key, inner, depth) => {
    places.push([holder, key]);
    if (typeof inner === "object" && inner !== null && depth < 12)
      for (const name of Object.keys(inner)) walk(inner, name, inner[name], depth + 1);
  };
  if (typeof copy !== "object" || copy === null) return anything(random);
  for (const name of Object.keys(copy)) walk(copy, name, copy[name], 0);
  if (places.length === 0 || random.coin(0.1)) {
    if (typeof copy === "object" && copy !== null && !Array.isArray(copy))
      define(copy, random.pick(["unexpected", "constructor", "a b"]), anything(random));
    return copy;
  }
  const [holder, key] = random.pick(places);
  const old = holder[key];
  const kind = random.below(6);
  if (kind === 0) Array.isArray(holder) ? holder.splice(Number(key), 1) : delete holder[key];
  else if (kind === 1) define(holder, key, anything(random));
  else if (kind === 2 && Array.isArray(old)) define(holder, key, random.coin() ? [] : [...old, ...old, anything(random)]);
  else if (kind === 2 && typeof old === "object" && old !== null) define(old, random.pick(["unexpected", "a b"]), anything(random));
  else if (kind === 3)
    define(
      holder,
      key,
      typeof old === "number"
        ? random.pick([old + 0.5, -old - 1, old * 1000 + 1, String(old)])
        : typeof old === "string"
          ? random.pick([`${old}!`, [...old].slice(1).join(""), old.repeat(40), old.toUpperCase(), 7])
          : typeof old === "boolean"
            ? String(old)
            : null,
    );
  else if (kind === 4) define(holder, key, null);
  else define(holder, key, random.pick(["", "zzz", 0, -1, 1e9, false, [], {}]));
  return copy;
}
