import { Fault } from "../fault.js";

/** A regular expression of ECMAScript in Unicode mode, without the parts that cannot be matched in linear time. */
export type Node =
  | { readonly kind: "one"; readonly source: string }
  | { readonly kind: "sequence" | "choice"; readonly of: readonly Node[] }
  | { readonly kind: "repeat"; readonly of: Node; readonly min: number; readonly max: number }
  | { readonly kind: "at"; readonly place: "start" | "end" | "edge" | "inside" }
  | { readonly kind: "look"; readonly of: Node; readonly behind: boolean; readonly negative: boolean };

/** Limit on groups within groups. */
const DEPTH = 200;

const places = { "^": "start", $: "end", "\\b": "edge", "\\B": "inside" } as const;
/** One character: an escape, a class, or the character itself. */
const one =
  /\\[pPu]\{[^}]*\}|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\c[a-zA-Z]|\\.|\[(?:\\.|[^\]\\])*\]|[^\\]/suy;
const group = /\((?:\?(?:(:)|(<?)([=!])|<[^>]*>))?/uy;
const quantifier = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/uy;

/** Parses a pattern that `new RegExp(source, "u")` accepts. Throws a Fault `invalid-params` for one that cannot be run safely. */
export function parsePattern(source: string): Node {
  let at = 0;
  const take = (token: RegExp): RegExpExecArray | null => {
    token.lastIndex = at;
    const found = token.exec(source);
    if (found !== null) at += found[0].length;
    return found;
  };

  const choice = (depth: number): Node => {
    if (depth > DEPTH) throw unsafe(source, "its groups are nested too deeply");
    const first = sequence(depth);
    if (source[at] !== "|") return first;
    const branches = [first];
    for (; source[at] === "|"; branches.push(sequence(depth))) at++;
    return { kind: "choice", of: branches };
  };
  const sequence = (depth: number): Node => {
    const parts: Node[] = [];
    while (at < source.length && source[at] !== "|" && source[at] !== ")") parts.push(repeated(atom(depth)));
    const [only] = parts;
    return only !== undefined && parts.length === 1 ? only : { kind: "sequence", of: parts };
  };
  const atom = (depth: number): Node => {
    if (source[at] === "(") {
      const opened = take(group);
      // For example modifiers, which change the meaning of the rest.
      if (opened === null || (opened[0] === "(" && source[at] === "?")) throw unsafe(source, "it has a group of an unknown kind");
      const of = choice(depth + 1);
      at++;
      const [, , behind, look] = opened;
      return look === undefined ? of : { kind: "look", of, behind: behind === "<", negative: look === "!" };
    }
    const [text] = take(one) as RegExpExecArray;
    if (/^\\[1-9k]/.test(text)) throw unsafe(source, "it refers back to a group");
    return Object.hasOwn(places, text) ? { kind: "at", place: places[text as keyof typeof places] } : { kind: "one", source: text };
  };
  const repeated = (of: Node): Node => {
    const found = take(quantifier);
    if (found === null) return of;
    const [, sign, least, comma, most] = found;
    if (sign !== undefined) return { kind: "repeat", of, min: sign === "+" ? 1 : 0, max: sign === "?" ? 1 : Number.POSITIVE_INFINITY };
    const max = comma === undefined ? least : most === "" ? Number.POSITIVE_INFINITY : most;
    return { kind: "repeat", of, min: Number(least), max: Number(max) };
  };
  return choice(0);
}

export function unsafe(source: string, why: string): Fault {
  return new Fault("invalid-params", `the pattern ${JSON.stringify(source)} cannot be run in bounded time: ${why}`, {
    data: { reason: "pattern" },
  });
}
