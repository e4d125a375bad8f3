/**
 * The value as JSON would carry it: undefined members are removed, `toJSON` is called. A plain value is returned itself, because most
 * values are plain and copying a large result is slow. Throws what JSON.stringify would throw.
 */
export function plain<T>(value: T): T {
  return convert(value, 0) as T;
}

/** Deeper than any message that an edge accepts. A value that contains itself ends here. */
const MAX_DEPTH = 1000;

function convert(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case "number":
      return Number.isFinite(value) ? value : null;
    case "bigint":
      throw new TypeError("a bigint is not JSON");
    case "function":
    case "symbol":
      return undefined;
    case "object":
      return value === null ? null : convertObject(value, depth);
    default:
      return value;
  }
}

function convertObject(value: object, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new TypeError("the value is nested too deep, or contains itself");
  if ("toJSON" in value && typeof value.toJSON === "function") return convert(value.toJSON(), depth + 1);
  if (value instanceof String || value instanceof Number || value instanceof Boolean) return convert(value.valueOf(), depth + 1);
  if (Array.isArray(value)) {
    let changed = false;
    const elements = value.map((element) => {
      const made = convert(element, depth + 1) ?? null;
      changed ||= made !== element;
      return made;
    });
    return changed ? elements : value;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  let changed = prototype !== Object.prototype && prototype !== null;
  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const made = convert(member, depth + 1);
    changed ||= made !== member || made === undefined;
    if (made !== undefined) members.push([name, made]);
  }
  // Not by assignment, which would set the prototype for the key `__proto__`.
  return changed ? Object.fromEntries(members) : value;
}
