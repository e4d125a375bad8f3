/** Random numbers that a seed decides. */
export function random(seed) {
  let state = seed >>> 0 || 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
  const below = (count) => Math.floor(next() * count);
  return { next, below, one: (list) => list[below(list.length)], chance: (part) => next() < part };
}

const odd = [
  null,
  true,
  -0,
  1e308,
  -1,
  0.5,
  2 ** 53,
  "",
  "\u0000",
  "\ud800",
  "\u202e\u001b[2J",
  "__proto__",
  "x".repeat(5000),
  [],
  {},
  [[[[[[]]]]]],
  { __proto__: null, constructor: 1 },
];
const names = [
  "id",
  "method",
  "params",
  "result",
  "error",
  "jsonrpc",
  "_meta",
  "__proto__",
  "constructor",
  "cursor",
  "uri",
  "name",
  "arguments",
];

/** A value with some of its places changed. */
export function mutateValue(value, rng, depth = 0) {
  if (rng.chance(0.06)) return structuredClone(rng.one(odd));
  if (Array.isArray(value)) {
    const changed = value.map((element) => mutateValue(element, rng, depth + 1));
    if (rng.chance(0.1)) changed.push(structuredClone(rng.one(odd)));
    return changed;
  }
  if (typeof value === "object" && value !== null) {
    const changed = {};
    for (const [name, member] of Object.entries(value)) {
      if (rng.chance(0.05)) continue;
      const kept = rng.chance(0.04) ? rng.one(names) : name;
      Object.defineProperty(changed, kept, {
        value: mutateValue(member, rng, depth + 1),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return changed;
  }
  if (typeof value === "string" && rng.chance(0.05)) return value.slice(rng.below(value.length + 1)) + rng.one(["", "\u2028", "é", "\\"]);
  return value;
}

/** Bytes with some of them changed, left out, doubled or put in. */
export function mutateBytes(bytes, rng) {
  const parts = [...bytes];
  for (let left = 1 + rng.below(4); left > 0; left--) {
    const at = rng.below(parts.length + 1);
    switch (rng.below(5)) {
      case 0:
        if (parts.length > 0) parts[Math.min(at, parts.length - 1)] ^= 1 << rng.below(8);
        break;
      case 1:
        parts.splice(at, 1 + rng.below(8));
        break;
      case 2:
        parts.splice(at, 0, ...Array.from({ length: 1 + rng.below(8) }, () => rng.below(256)));
        break;
      case 3:
        parts.splice(at, 0, ...parts.slice(at, at + 1 + rng.below(32)));
        break;
      default:
        parts.length = at;
    }
  }
  return Buffer.from(parts);
}

/** A message as text: as it is, changed in its values, or changed in its bytes. Never with a line end in it. */
export function frameOf(message, rng) {
  if (rng.chance(0.15)) return Buffer.from(JSON.stringify(message));
  if (rng.chance(0.02)) return Buffer.from(`${"[".repeat(1 + rng.below(3000))}1`);
  const text = Buffer.from(JSON.stringify(mutateValue(message, rng)) ?? "null");
  const bytes = rng.chance(0.5) ? mutateBytes(text, rng) : text;
  return bytes.map((byte) => (byte === 0x0a ? 0x20 : byte));
}
