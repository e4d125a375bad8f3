/** A JSON value as its text said it: members in their order, duplicates too, and numbers as they were spelled. */
export type Exact =
  | { readonly kind: "object"; readonly members: readonly (readonly [string, Exact])[] }
  | { readonly kind: "array"; readonly items: readonly Exact[] }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "number"; readonly text: string }
  | { readonly kind: "word"; readonly text: "true" | "false" | "null" };

const space = /[ \t\n\r]*/y;
const string = /"(?:[^"\\]|\\.)*"/sy;
const scalar = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** Reads a JSON text without turning anything in it into a JavaScript value that could say less. */
export function exact(text: string): Exact {
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  const next = (char: string): boolean => {
    take(space);
    if (text[at] !== char) return false;
    at++;
    return true;
  };
  const expect = (char: string): void => {
    if (!next(char)) throw new SyntaxError(`no ${char} at ${at} of ${text}`);
  };
  const name = (): string => {
    take(space);
    return JSON.parse(take(string) ?? text.slice(at)) as string;
  };
  const value = (): Exact => {
    if (next("{")) {
      const members: [string, Exact][] = [];
      if (next("}")) return { kind: "object", members };
      do {
        const key = name();
        expect(":");
        members.push([key, value()]);
      } while (next(","));
      expect("}");
      return { kind: "object", members };
    }
    if (next("[")) {
      const items: Exact[] = [];
      if (next("]")) return { kind: "array", items };
      do items.push(value());
      while (next(","));
      expect("]");
      return { kind: "array", items };
    }
    if (text[at] === '"') return { kind: "string", value: name() };
    const found = take(scalar);
    if (found === undefined) throw new SyntaxError(`no value at ${at} of ${text}`);
    return found === "true" || found === "false" || found === "null" ? { kind: "word", text: found } : { kind: "number", text: found };
  };
  const read = value();
  take(space);
  if (at !== text.length) throw new SyntaxError(`more than one value in ${text}`);
  return read;
}

/** The text of a value: no spaces, escapes as JSON.stringify makes them, all else as it was. */
export function textOf(value: Exact): string {
  switch (value.kind) {
    case "object":
      return `{${value.members.map(([name, member]) => `${JSON.stringify(name)}:${textOf(member)}`).join()}}`;
    case "array":
      return `[${value.items.map(textOf).join()}]`;
    case "string":
      return JSON.stringify(value.value);
    default:
      return value.text;
  }
}

/** The member of that path, if there is one. Of two with the same name it is the last. */
export function at(value: Exact | undefined, ...path: readonly string[]): Exact | undefined {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  return value?.kind === "object" ? at(new Map(value.members).get(name), ...rest) : undefined;
}

/** The string at that path. */
export function stringAt(value: Exact, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path);
  return found?.kind === "string" ? found.value : undefined;
}
