import { type Exact, textOf } from "./json.js";

/** How two values differ. `number` is a number that a double cannot hold; the last three are what a JavaScript object does to any JSON. */
export type ChangeKind = "missing" | "added" | "changed" | "number" | "order" | "integer-names" | "spelling" | "duplicate";

export interface Change {
  readonly kind: ChangeKind;
  /** Members by name, items of arrays as `[]`. */
  readonly path: string;
  readonly was?: string;
  readonly is?: string;
}

/** Every way in which what arrived is not what was sent. */
export function changes(sent: Exact, arrived: Exact, path = ""): Change[] {
  if (sent.kind === "object" && arrived.kind === "object") return memberChanges(sent, arrived, path);
  if (sent.kind === "array" && arrived.kind === "array" && sent.items.length === arrived.items.length)
    return sent.items.flatMap((item, index) => changes(item, arrived.items[index] as Exact, `${path}[]`));
  const [was, is] = [textOf(sent), textOf(arrived)];
  if (was === is) return [];
  return [{ kind: sent.kind === "number" ? numberChange(was, is) : "changed", path, was, is }];
}

type Members = Extract<Exact, { kind: "object" }>;

function memberChanges(sent: Members, arrived: Members, path: string): Change[] {
  const [was, is] = [new Map(sent.members), new Map(arrived.members)];
  const below = (name: string): string => (path === "" ? name : `${path}.${name}`);
  const found: Change[] = [];
  if (was.size < sent.members.length) found.push({ kind: "duplicate", path });
  for (const [name, value] of was) {
    const other = is.get(name);
    if (other === undefined) found.push({ kind: "missing", path: below(name), was: textOf(value) });
    else found.push(...changes(value, other, below(name)));
  }
  for (const [name, value] of is) if (!was.has(name)) found.push({ kind: "added", path: below(name), is: textOf(value) });
  const before = [...was.keys()].filter((name) => is.has(name));
  const after = [...is.keys()].filter((name) => was.has(name));
  if (before.some((name, index) => name !== after[index])) {
    const plain = (names: readonly string[]): string => JSON.stringify(names.filter((name) => !/^(0|[1-9]\d*)$/.test(name)));
    const kind = plain(before) === plain(after) ? "integer-names" : "order";
    found.push({ kind, path, was: JSON.stringify(before), is: JSON.stringify(after) });
  }
  return found;
}

/** What became of a number. Large integers, numbers that overflow and -0 have to keep their text; a double holds less. */
function numberChange(was: string, is: string): ChangeKind {
  const value = Number(was);
  if (!Number.isFinite(value)) return is === "null" ? "number" : "changed";
  if (value === 0 && Number(is) === 0 && Object.is(value, -0)) return "number";
  if (!Object.is(value, Number(is))) return "changed";
  return Number.isInteger(value) && !Number.isSafeInteger(value) && !/[.eE]/.test(was) ? "number" : "spelling";
}
