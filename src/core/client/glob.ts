import { Fault } from "../fault.js";

/** A pattern over URIs: `*` and `?` stay within a segment, `**` crosses them, `{a,b}` is either, `\` takes the next literally. */
export interface Glob {
  matches(uri: string): boolean;
  /** The one URI that it stands for, if it has no glob characters. */
  readonly plain?: string;
}

/** Limit on the combinations of alternatives in one pattern. */
const mostAlternatives = 256;

const wild = { one: 1, star: 2, deep: 3, dirs: 4, rest: 5 } as const;
/** A literal character, or a wildcard. `dirs` is followed by `rest`: together they match nothing, or anything up to a slash. */
type Token = string | (typeof wild)[keyof typeof wild];

export function glob(pattern: string): Glob {
  const alternatives = expand(pattern).map(tokensOf);
  const [only] = alternatives;
  if (only !== undefined && alternatives.length === 1 && only.every((token) => typeof token === "string")) {
    const plain = only.join("");
    return { plain, matches: (uri) => uri === plain };
  }
  return { matches: (uri) => alternatives.some((tokens) => matches(tokens, uri)) };
}

/** The pattern without braces, once for each combination of alternatives. */
function expand(pattern: string): string[] {
  const open = indexOutside(pattern, "{", 0);
  const parts = open < 0 ? undefined : alternativesAt(pattern, open);
  if (parts === undefined) return [pattern];
  const head = pattern.slice(0, open);
  const tails = expand(pattern.slice(parts.end + 1));
  const all = parts.choices.flatMap((choice) => expand(choice)).flatMap((choice) => tails.map((tail) => head + choice + tail));
  if (all.length > mostAlternatives) throw new Fault("invalid-params", `the pattern has more than ${mostAlternatives} alternatives`);
  return all;
}

/** The alternatives between the brace at `open` and its closing brace. Undefined if there is none: then the brace is a literal. */
function alternativesAt(pattern: string, open: number): { choices: string[]; end: number } | undefined {
  const choices: string[] = [];
  let depth = 0;
  let from = open + 1;
  for (let at = open; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === "\\") at++;
    else if (character === "{") depth++;
    else if (character === "," && depth === 1) {
      choices.push(pattern.slice(from, at));
      from = at + 1;
    } else if (character === "}" && --depth === 0) {
      choices.push(pattern.slice(from, at));
      return { choices, end: at };
    }
  }
  return undefined;
}

function indexOutside(pattern: string, wanted: string, from: number): number {
  for (let at = from; at < pattern.length; at++) {
    if (pattern[at] === "\\") at++;
    else if (pattern[at] === wanted) return at;
  }
  return -1;
}

function tokensOf(pattern: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern.charAt(at);
    if (character === "\\" && at + 1 < pattern.length) tokens.push(pattern.charAt(++at));
    else if (character === "?") tokens.push(wild.one);
    else if (character !== "*") tokens.push(character);
    else if (pattern[at + 1] !== "*") tokens.push(wild.star);
    else if (pattern[at + 2] === "/" && (at === 0 || pattern[at - 1] === "/")) {
      tokens.push(wild.dirs, wild.rest);
      at += 2;
    } else {
      tokens.push(wild.deep);
      at++;
    }
  }
  return tokens;
}

/** Follows all possible matches at once, so that no URI of a server can make it backtrack. */
function matches(tokens: readonly Token[], uri: string): boolean {
  const end = tokens.length;
  let current = new Uint8Array(end + 1);
  let following = new Uint8Array(end + 1);
  reach(tokens, current, 0);
  for (let i = 0; i < uri.length; i++) {
    const character = uri.charAt(i);
    const slash = character === "/";
    let alive = false;
    following.fill(0);
    for (let at = 0; at < end; at++) {
      if (current[at] === 0) continue;
      const token = tokens[at];
      let to = -1;
      if (typeof token === "string") to = token === character ? at + 1 : -1;
      else if (token === wild.one) to = slash ? -1 : at + 1;
      else if (token === wild.star) to = slash ? -1 : at;
      else if (token !== wild.dirs) to = at;
      if (to < 0) continue;
      alive = true;
      reach(tokens, following, to);
      if (token === wild.rest && slash) reach(tokens, following, at + 1);
    }
    if (!alive) return false;
    [current, following] = [following, current];
  }
  return current[end] === 1;
}

/** Marks a place, and the places that wildcards reach from it by matching nothing. */
function reach(tokens: readonly Token[], places: Uint8Array, from: number): void {
  for (let at = from; places[at] === 0; at++) {
    places[at] = 1;
    const token = tokens[at];
    if (token === wild.dirs) reach(tokens, places, at + 2);
    else if (token !== wild.star && token !== wild.deep) return;
  }
}
