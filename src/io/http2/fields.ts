import type { IncomingHttpHeaders } from "node:http2";

/** RFC 9113, 8.2: a token without upper-case letters. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const COLON = 0x3a;

/** Headers that belong to a connection of HTTP/1. */
const foreign: ReadonlySet<string> = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"]);

/**
 * The fields of a header list, with repeated names joined; undefined if they violate HTTP/2. In `raw`, names and values alternate. `pseudo`:
 * the pseudo-headers that there may be.
 */
export function headerFields(raw: readonly string[], pseudo: readonly string[]): IncomingHttpHeaders | undefined {
  const fields: Record<string, string> = Object.create(null);
  let regular = false;
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] ?? "";
    const value = raw[at + 1] ?? "";
    if (name.charCodeAt(0) === COLON) {
      // Each comes once, and before all others.
      if (regular || fields[name] !== undefined || !pseudo.includes(name)) return undefined;
    } else if (!NAME.test(name) || foreign.has(name)) return undefined;
    else regular = true;
    if (breaksLine(value)) return undefined;
    const before = fields[name];
    fields[name] = before === undefined ? value : `${before}, ${value}`;
  }
  return fields;
}

function breaksLine(value: string): boolean {
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (code === 0 || code === 0x0a || code === 0x0d) return true;
  }
  return false;
}
