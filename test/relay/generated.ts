import fc from "fast-check";
import { requests, results } from "../../tools/proto/shapes.mjs";
import type { Eras } from "./chain.js";
import type { Script } from "./script.js";

/** Methods that a relay passes on in either era; what is about the session itself has scripts of its own. */
const passed = [
  "tools/call",
  "tools/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "prompts/list",
  "prompts/get",
  "completion/complete",
] as const;

/** Members that belong to the connection, not to whoever generates messages: with random values they would ask for something. */
const ofTheConnection = new Set([
  "progressToken",
  "nextCursor",
  "cursor",
  "inputRequests",
  "inputResponses",
  "requestState",
  "resultType",
  "ttlMs",
  "cacheScope",
  "traceparent",
  "tracestate",
  "baggage",
]);

/** The text of a value that JSON.stringify would change: -0 stays. */
function textFor(value: unknown, name = ""): string | undefined {
  if (ofTheConnection.has(name) || /^(io\.modelcontextprotocol|dev\.anywire)\//.test(name)) return undefined;
  if (Object.is(value, -0)) return "-0";
  if (Array.isArray(value)) return `[${value.map((item) => textFor(item)).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${membersOf(value)}}`;
}

function membersOf(value: object): string {
  return Object.entries(value)
    .map(([name, member]) => [name, textFor(member, name)] as const)
    .filter(([, text]) => text !== undefined)
    .map(([name, text]) => `${JSON.stringify(name)}:${text}`)
    .join();
}

/** Requests and answers of all shapes, and of nearly all: members are missing, unknown, or of another type. The same for the same seed. */
export function generated({ server: era }: Eras, seed: number, count: number): Script[] {
  return passed.flatMap((method) => {
    const pairs = fc.tuple(requests[method] as fc.Arbitrary<object>, results[method] as fc.Arbitrary<object>);
    return fc.sample(pairs, { seed, numRuns: Math.ceil(count / passed.length) }).flatMap(([params, result], index): Script[] => {
      const asked = textFor(isNamed(method, params)) as string;
      const answer = membersOf(itemsOf(method, result));
      const complete = era === "legacy" ? "" : `"resultType":"complete"${answer === "" ? "" : ","}`;
      return [{ kind: "call", name: `${method} ${seed}/${index}`, method, whole: asked, answer: { result: complete + answer } }];
    });
  });
}

/** What a request is about has to be there: the headers of HTTP repeat it. */
function isNamed(method: string, params: object): object {
  const member = method === "resources/read" ? "uri" : method === "tools/call" || method === "prompts/get" ? "name" : undefined;
  const { _meta, ...rest } = params as Record<string, unknown>;
  const meta = typeof _meta === "object" && _meta !== null && !Array.isArray(_meta) ? { _meta } : {};
  if (member === undefined || typeof rest[member] === "string") return { ...rest, ...meta };
  return { ...rest, [member]: "named", ...meta };
}

/** A list without its items, or with other things for items, is none. */
function itemsOf(method: string, result: object): object {
  const member = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
    "resources/read": "contents",
  }[method];
  const items = (result as Record<string, unknown>)[member ?? ""];
  const whole = Array.isArray(items) && items.every((item) => typeof item === "object" && item !== null && !Array.isArray(item));
  return member === undefined || whole ? result : { ...result, [member]: [] };
}
