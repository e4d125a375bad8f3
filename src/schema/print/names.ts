/** Shortens names for one file: as much as protobuf's rules allow without changing their meaning. */
export type ShortName = (full: string, scope: string) => string;

/** `known` are the full names of all types and packages that a name in the file could refer to. */
export function shortNames(known: Iterable<string>): ShortName {
  const all = new Set<string>();
  for (const name of known) for (let part = name; part !== "" && !all.has(part); part = parentOf(part)) all.add(part);
  return (full, scope) => {
    const parts = full.split(".");
    for (let from = parts.length - 1; from >= 0; from--) {
      const name = parts.slice(from).join(".");
      if (resolved(all, name, scope) === full) return name;
    }
    return `.${full}`;
  };
}

/** What a name refers to in a scope: its first part is searched from the inside out, and the first match counts. */
function resolved(all: ReadonlySet<string>, name: string, scope: string): string | undefined {
  const [first = ""] = name.split(".");
  for (let outer = scope; ; outer = parentOf(outer)) {
    const prefix = outer === "" ? "" : `${outer}.`;
    if (all.has(prefix + first)) return prefix + name;
    if (outer === "") return undefined;
  }
}

function parentOf(name: string): string {
  return name.slice(0, Math.max(name.lastIndexOf("."), 0));
}
