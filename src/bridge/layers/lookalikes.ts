import { envelopeMembers, Fault, type Message } from "../../core/index.js";

/** The members of a message, and of the params of a call, that layers check. */
const ofMessage: ReadonlySet<string> = new Set(["jsonrpc", "id", "method", "params"]);
const ofParams: ReadonlySet<string> = new Set(["name"]);

/**
 * The fault of a message that has members whose names differ from these only by case or Unicode folding. Unknown members are passed on, and
 * some servers, such as those that use Go's JSON library, would take them for the real ones: they would call another tool than the one that
 * was checked.
 */
export function lookalike({ method, params }: Message): Fault | undefined {
  const found = lookalikeIn(envelopeMembers(params), ofMessage) ?? (method === "tools/call" ? lookalikeIn(params, ofParams) : undefined);
  if (found === undefined) return undefined;
  return new Fault("invalid-params", `the member ${JSON.stringify(found)} could be taken for another one of nearly the same name`);
}

function lookalikeIn(object: object | undefined, names: ReadonlySet<string>): string | undefined {
  if (object === undefined) return undefined;
  for (const key of Object.keys(object)) if (!names.has(key) && names.has(folded(key))) return key;
  return undefined;
}

/** The long s and the Kelvin sign also fold to letters. */
function folded(key: string): string {
  return key.toLowerCase().replaceAll("ſ", "s").replaceAll("\u212a", "k");
}
