/** The field of a message that has the members no field is for, and what a field cannot say. No property gets this name. */
export const OVERFLOW = "additional_properties";
/** The oneof of a message that is one of several objects. */
export const VARIANT = "variant";

/** A name as protobuf's style has it: `maxResults`, `max-results` and `MAX_RESULTS` are `max_results`. */
export function snakeCase(name: string): string {
  const words = name
    .normalize("NFKD")
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    // An underscore before a digit is lost in most languages, so that two names could become one.
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

/** Gives each name once: the second `name` is `namex2`, in whatever way the names are compared. */
export class Names {
  readonly #taken = new Set<string>();

  constructor(...taken: readonly string[]) {
    for (const name of taken) this.take(name);
  }

  take(name: string): string {
    let free = name;
    for (let count = 2; this.#taken.has(plain(free)); count++) free = `${name}${/\d$/.test(name) ? "x" : ""}${count}`;
    this.#taken.add(plain(free));
    return free;
  }
}

/** Names that differ in case or underscores alone collide in generated code. */
function plain(name: string): string {
  return name.replaceAll("_", "").toLowerCase();
}
