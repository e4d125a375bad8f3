import { type PatternNode, parsePattern } from "../../core/index.js";

/** The characters of \s in ECMAScript. RE2 has only the ASCII ones. */
const space = "\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
/** The most repetitions that RE2 allows. */
const REPEATS = 1_000;
const categories = /^\\[pP]\{(?:General_Category=|gc=)?(L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|C[cfson]?)\}$/;
const scripts = /^\\[pP]\{(?:Script|sc)=([A-Z][A-Za-z_]+)\}$/;

/** Thrown for what RE2 cannot express. */
class Inexpressible extends Error {}

/**
 * An ECMAScript pattern in RE2 syntax, with the same meaning. Undefined if RE2 cannot express it: lookaround, back-references, too many
 * repetitions.
 */
export function re2Pattern(source: string): string | undefined {
  try {
    new RegExp(source, "u");
    return written(parsePattern(source), 1);
  } catch {
    return undefined;
  }
}

function written(node: PatternNode, times: number): string {
  switch (node.kind) {
    case "one":
      return one(node.source);
    case "at":
      return { start: "^", end: "$", edge: "\\b", inside: "\\B" }[node.place];
    case "sequence":
      return node.of.map((part) => (part.kind === "choice" ? `(?:${written(part, times)})` : written(part, times))).join("");
    case "choice":
      return node.of.map((part) => written(part, times)).join("|");
    case "repeat": {
      const most = Number.isFinite(node.max) ? node.max : node.min;
      const count = times * Math.max(most, 1);
      if (count > REPEATS) throw new Inexpressible();
      const of = written(node.of, count);
      return `${node.of.kind === "one" ? of : `(?:${of})`}${sign(node.min, node.max)}`;
    }
    case "look":
      throw new Inexpressible();
  }
}

function sign(min: number, max: number): string {
  if (max === Number.POSITIVE_INFINITY) return min === 0 ? "*" : min === 1 ? "+" : `{${min},}`;
  return min === 0 && max === 1 ? "?" : min === max ? `{${min}}` : `{${min},${max}}`;
}

function one(source: string): string {
  if (source === ".") return "[^\\n\\r\\x{2028}\\x{2029}]";
  if (source === "[]") return "[^\\x00-\\x{10ffff}]";
  if (source === "[^]") return "[\\x00-\\x{10ffff}]";
  if (source.startsWith("[")) return bracket(source);
  return element(source, false);
}

const inside =
  /\\[pPu]\{[^}]*\}|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\c[a-zA-Z]|\\.|[^\\]/gsu;

function bracket(source: string): string {
  const negated = source[1] === "^";
  const parts = source.slice(negated ? 2 : 1, -1).match(inside) ?? [];
  return `[${negated ? "^" : ""}${parts.map((part) => (part === "-" ? "-" : element(part, true))).join("")}]`;
}

/** One character or character class, within brackets or not. */
function element(source: string, bracketed: boolean): string {
  if (source === "\\s") return bracketed ? space : `[${space}]`;
  if (source === "\\S") {
    if (bracketed) throw new Inexpressible();
    return `[^${space}]`;
  }
  if (/^\\[dDwW]$/.test(source)) return source;
  if (/^\\[pP]/.test(source)) {
    const name = (categories.exec(source) ?? scripts.exec(source))?.[1];
    if (name === undefined) throw new Inexpressible();
    return `${source.slice(0, 2)}{${name}}`;
  }
  if (source === "\\b" && bracketed) return "\\x08";
  const code = codeOf(source);
  if (code >= 0xd800 && code <= 0xdfff) throw new Inexpressible();
  const character = String.fromCodePoint(code);
  if (/[A-Za-z0-9_ ]/.test(character)) return character;
  if (code < 32 || code > 126) return `\\x{${code.toString(16)}}`;
  return /[-\\^$.*+?()[\]{}|]/.test(character) ? `\\${character}` : character;
}

const escapes: Record<string, number> = { t: 9, n: 10, v: 11, f: 12, r: 13, "0": 0 };

function codeOf(source: string): number {
  if (!source.startsWith("\\")) return source.codePointAt(0) ?? 0;
  const pair = /^\\u([0-9a-fA-F]{4})\\u([0-9a-fA-F]{4})$/.exec(source);
  if (pair !== null) return String.fromCharCode(Number.parseInt(pair[1] ?? "", 16), Number.parseInt(pair[2] ?? "", 16)).codePointAt(0) ?? 0;
  const hex = /^\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))$/.exec(source);
  if (hex !== null) return Number.parseInt(hex[1] ?? hex[2] ?? hex[3] ?? "", 16);
  if (source.startsWith("\\c")) return source.charCodeAt(2) % 32;
  return escapes[source.slice(1)] ?? source.codePointAt(1) ?? 0;
}
