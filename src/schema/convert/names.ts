/** The field for members without a field of their own, and for values that a field cannot express. No property gets this name. */
export const OVERFLOW = "additional_properties";
/** The oneof of a message that is one of several objects. */
export const VARIANT = "variant";

/** A name in protobuf's style: `maxResults`, `max-results` and `MAX_RESULTS` become `max_results`. */
export function snakeCase(name: string): string {
  const words = name
    .normalize("NFKD")
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    // Most languages drop an underscore before a digit, so that two names could become one.
    .replace(/_(?=\d)/g, "");
  if (words === "") return "field";
  return (/^\d/.test(words) ? `n${words}` : words).slice(0, 100).replace(/_+$/, "");
}

export function pascalCase(name: string): string {
  return snakeCase(name)
    .split("_")
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join("");
}

/** Makes names unique: the second `name` becomes `namex2`, however names are compared. */
export class Names {
  readonly #taken = new Set<string>();
  /** The last number that a name got, so that a thousand equal names do not search for theirs. */
  readonly #last = new Map<string, number>();

  constructor(...taken: readonly string[]) {
    for (const name of taken) this.take(name);
  }

  take(name: string): string {
    let free = name;
    let count = this.#last.get(name) ?? 1;
    while (this.#taken.has(plain(free))) free = `${name}${/\d$/.test(name) ? "x" : ""}${++count}`;
    this.#last.set(name, count);
    this.#taken.add(plain(free));
    return free;
  }
}

/** Names that differ only in case or underscores collide in generated code. */
function plain(name: string): string {
  return name.replaceAll("_", "").toLowerCase();
}

/** Protobuf accepts any other text as a JSON name. */
export function isJsonName(name: string): boolean {
  return name !== "" && !name.includes("\0") && !/^\[.*\]$/s.test(name) && !/\p{Surrogate}/u.test(name);
}
