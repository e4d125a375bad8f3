import { beside, Fault, type Message } from "../../core/index.js";

/** Members of a message, and of the params of a call, by which a layer decides. */
const ofMessage: ReadonlySet<string> = new Set(["jsonrpc", "id", "method", "params"]);
const ofParams: ReadonlySet<string> = new Set(["name"]);

/**
 * What is wrong with a message that has members whose names differ from these by case or folding only. Unknown members are passed on, and
 * some servers, those that read JSON as Go's library does, would take them for the real ones: another tool than the one that was looked at.
 */
export function lookalike({ method, params }: Message): Fault | undefined {
  const found = lookalikeIn(beside(params), ofMessage) ?? (method === "tools/call" ? lookalikeIn(params, ofParams) : undefined);
  if (found === undefined) return undefined;
  return new Fault("invalid-params", `the member ${JSON.stringify(found)} could be taken for another one of nearly the same name`);
}

function lookalikeIn(object: object | undefined, names: ReadonlySet<string>): string | undefined {
  if (object === undefined) return undefined;
  for (const key of Object.keys(object)) if (!names.has(key) && names.has(folded(key))) return key;
  return undefined;
}

/** The long s and the sign for kelvin fold to letters, too. */
function folded(key: string): string {
  return key.toLowerCase().replaceAll("ſ", "s").replaceAll("\u212a", "k");
}
