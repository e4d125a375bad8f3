import { Fault } from "./fault.js";

/** The value of each variable in a URI; a list where the template has `{x*}`. It has no prototype, so every name is safe. */
export type TemplateVariables = { readonly [name: string]: string | readonly string[] };

export interface UriTemplate {
  readonly source: string;
  readonly names: readonly string[];
  /** The variables of a URI that this template could have made; undefined for any other. Linear in the URI's length. */
  match(uri: string): TemplateVariables | undefined;
}

type Values = Record<string, string | string[]>;

/** One step of a match: `prefix`, then a run of allowed characters, or nothing at all where it is optional. */
interface Token {
  readonly prefix: string;
  readonly optional: boolean;
  /** Characters that end the run; undefined if there is no run. */
  readonly stops?: string;
  /** Puts the run into `values`; false if the template could not have made it. */
  readonly take?: (run: string, values: Values) => boolean;
}

interface Variable {
  readonly name: string;
  readonly explode: boolean;
}

const longest = 65_536;
const operators = "+#./;?&";
const variablePattern = /^([A-Za-z0-9_.%-]+)(\*|:[0-9]{1,4})?$/;

/** Reads a template of RFC 6570, levels 1 to 3 and the explode modifier. */
export function uriTemplate(source: string): UriTemplate {
  const names: string[] = [];
  const tokens: Token[] = [];
  let at = 0;
  while (at < source.length) {
    const open = source.indexOf("{", at);
    const literal = open < 0 ? source.slice(at) : source.slice(at, open);
    if (literal.includes("}")) throw malformed(source);
    if (literal !== "") tokens.push({ prefix: literal, optional: false });
    if (open < 0) break;
    const close = source.indexOf("}", open);
    if (close < 0) throw malformed(source);
    tokens.push(...expression(source.slice(open + 1, close), source, names));
    at = close + 1;
  }
  return { source, names, match: (uri) => match(tokens, uri) };
}

function malformed(source: string): Fault {
  return new Fault("invalid-params", `not a URI template: ${source}`);
}

function expression(body: string, source: string, names: string[]): Token[] {
  const operator = body !== "" && operators.includes(body.charAt(0)) ? body.charAt(0) : "";
  const variables = body
    .slice(operator.length)
    .split(",")
    .map((part): Variable => {
      const found = variablePattern.exec(part);
      const name = found?.[1];
      if (name === undefined || names.includes(name)) throw malformed(source);
      names.push(name);
      return { name, explode: found?.[2] === "*" };
    });
  if (operator === "?" || operator === "&") return [query(operator, variables)];
  return variables.map((variable, index) => single(operator, variable, index === 0 && variables.length === 1, index === 0));
}

/** The value of one variable outside a query. `alone`: no comma separates it from another. */
function single(operator: string, variable: Variable, alone: boolean, first: boolean): Token {
  const { name, explode } = variable;
  const comma = alone ? "" : ",";
  const take =
    (separator: string) =>
    (run: string, values: Values): boolean =>
      put(values, name, explode ? run.split(separator) : run);
  switch (operator) {
    case "/":
      return { prefix: "/", optional: true, stops: explode ? "?#" : "/?#", take: take("/") };
    case ".":
      return { prefix: ".", optional: true, stops: explode ? "/?#" : "./?#", take: take(".") };
    case ";":
      return { prefix: `;${name}=`, optional: true, stops: ";/?#", take: take(",") };
    case "+":
      return { prefix: first ? "" : ",", optional: !first, stops: comma, take: take(",") };
    case "#":
      return { prefix: first ? "#" : ",", optional: true, stops: comma, take: take(",") };
    default:
      return { prefix: first ? "" : ",", optional: !first, stops: `/?#${comma}`, take: take(",") };
  }
}

/** A query: its variables in any order, each at most once unless it is a list. */
function query(operator: string, variables: readonly Variable[]): Token {
  return {
    prefix: operator,
    optional: true,
    stops: "#",
    take: (run, values) =>
      run.split("&").every((pair) => {
        const equals = pair.indexOf("=");
        const key = equals < 0 ? pair : pair.slice(0, equals);
        const value = equals < 0 ? "" : pair.slice(equals + 1);
        const variable = variables.find(({ name }) => name === key);
        if (variable === undefined) return false;
        const before = values[key];
        if (!variable.explode) return before === undefined && put(values, key, value);
        return put(values, key, [value], Array.isArray(before) ? before : undefined);
      }),
  };
}

function put(values: Values, name: string, value: string | string[], before: string[] = []): boolean {
  try {
    values[name] = typeof value === "string" ? decodeURIComponent(value) : [...before, ...value.map(decodeURIComponent)];
    return true;
  } catch {
    return false;
  }
}

/**
 * Finds from the back, for every token and position, how far the token may reach so that the rest still fits; then
 * walks forward once. No backtracking, whatever the template.
 */
function match(tokens: readonly Token[], uri: string): TemplateVariables | undefined {
  const length = uri.length;
  if (length > longest) return undefined;
  const ends: Int32Array[] = [];
  let after: Int32Array = new Int32Array(length + 1).fill(-1);
  after[length] = length;
  for (const [index, token] of [...tokens.entries()].reverse()) after = ends[index] = reach(token, uri, after);
  const values: Values = Object.create(null);
  let at = 0;
  for (const [index, token] of tokens.entries()) {
    const end = ends[index]?.[at] ?? -1;
    if (end < 0) return undefined;
    // An optional token that took nothing leaves its variable out.
    if (end > at && token.take?.(uri.slice(at + token.prefix.length, end), values) === false) return undefined;
    at = end;
  }
  return at === length ? values : undefined;
}

/** For each position, where `token` ends if it starts there, as far on as the rest allows; -1 where it cannot. */
function reach(token: Token, uri: string, after: Int32Array): Int32Array {
  const { prefix, optional, stops } = token;
  const length = uri.length;
  const far = new Int32Array(length + 1).fill(-1);
  for (let at = length; at >= 0; at--) {
    const further = at < length && stops !== undefined && !stops.includes(uri.charAt(at)) ? (far[at + 1] ?? -1) : -1;
    far[at] = further >= 0 ? further : (after[at] ?? -1) >= 0 ? at : -1;
  }
  const ends = new Int32Array(length + 1).fill(-1);
  for (let at = 0; at <= length; at++) {
    const start = at + prefix.length;
    const end = start <= length && uri.startsWith(prefix, at) ? (far[start] ?? -1) : -1;
    // A run has at least one character: an empty value does not match.
    if (end >= start + (stops === undefined ? 0 : 1)) ends[at] = end;
    else if (optional && (after[at] ?? -1) >= 0) ends[at] = at;
  }
  return ends;
}
