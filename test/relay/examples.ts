import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { at, type Exact, exact, stringAt, textOf } from "./json.js";
import { items } from "./raw/grpc-frames.js";
import type { Era } from "./raw/types.js";
import type { Script } from "./script.js";

/** The method that a type of the schema belongs to. */
const methods: Readonly<Record<string, string>> = {
  CallTool: "tools/call",
  ListTools: "tools/list",
  ListResources: "resources/list",
  ListResourceTemplates: "resources/templates/list",
  ReadResource: "resources/read",
  ListPrompts: "prompts/list",
  GetPrompt: "prompts/get",
  Complete: "completion/complete",
  Elicit: "elicitation/create",
  CreateMessage: "sampling/createMessage",
  ListRoots: "roots/list",
};
const asked = new Set(["elicitation/create", "sampling/createMessage", "roots/list"]);
const fromClient = new Set(["notifications/roots/list_changed"]);
/** What is about the session itself, which the scripts cover. */
const ofTheSession =
  /^(initialize|ping|server\/discover|subscriptions\/listen|logging\/setLevel|resources\/(un)?subscribe|notifications\/(initialized|cancelled|progress|subscriptions\/acknowledged))$/;

/** Each file of a folder of the specification's examples (`Type/name.json`) as an exchange: as the message it is, or as a value in a tool call. */
export function examples(folder: string, era: Era): Script[] {
  return readdirSync(folder).flatMap((type) =>
    readdirSync(join(folder, type))
      .filter((name) => name.endsWith(".json"))
      .flatMap((name) => scriptOf(`${type}/${name}`, type, readFileSync(join(folder, type, name), "utf8"), era)),
  );
}

function scriptOf(name: string, type: string, text: string, era: Era): Script[] {
  const value = exact(text);
  const done = era === "modern" ? '"resultType":"complete",' : "";
  const members = (part: ReturnType<typeof exact> | undefined): string => (part === undefined ? "" : textOf(part).slice(1, -1));
  const call = (method: string, whole: string, result: string): Script => ({ kind: "call", name, method, whole, answer: { result } });
  const plain = call(
    "tools/call",
    `{"name":"example","arguments":{"value":${textOf(value)}}}`,
    `${done}"content":[],"structuredContent":${textOf(value)}`,
  );
  const method = stringAt(value, "method") ?? methods[type.replace(/(Request(Form|URL)?Params|Request|ResultResponse|Result)$/, "")];
  if (type.endsWith("Error"))
    return [
      { kind: "call", name, method: "tools/call", params: '"name":"fails"', answer: { error: members(at(value, "error") ?? value) } },
    ];
  if (method === undefined || ofTheSession.test(method)) return [plain];
  const params = at(value, "method") === undefined ? value : at(value, "params");
  const whole = params === undefined ? "{}" : textOf(era === "legacy" ? withoutStamps(params) : params);
  if (type.includes("Notification")) {
    if (era === "legacy") return [plain, { kind: fromClient.has(method) ? "client note" : "server note", name, method, whole }];
    return [plain];
  }
  if (asked.has(method)) {
    if (era === "modern") return [plain];
    const answers = type.endsWith("Result");
    const step = { ask: method, whole: answers ? '{"x":1}' : whole, answer: { result: answers ? members(value) : '"x":1' } };
    return [
      plain,
      { kind: "call", name, method: "tools/call", params: '"name":"asks"', answer: { result: '"content":[]' }, steps: [step] },
    ];
  }
  if (/Result(Response)?$/.test(type)) return [plain, call(method, '{"name":"n","uri":"test://n"}', members(at(value, "result") ?? value))];
  return [plain, call(method, whole, `${done}${items[method] === undefined ? '"x":1' : `"${items[method][0]}":[]`}`)];
}

/** Params as a legacy client sends them: what a modern request says of itself in `_meta` is not theirs. */
function withoutStamps(params: Exact): Exact {
  if (params.kind !== "object") return params;
  const members = params.members.map(([name, value]) => [name, name === "_meta" ? ownMeta(value) : value] as const);
  return { kind: "object", members: members.filter(([name, value]) => name !== "_meta" || textOf(value) !== "{}") };
}

function ownMeta(value: Exact): Exact {
  if (value.kind !== "object") return value;
  return { kind: "object", members: value.members.filter(([name]) => !name.startsWith("io.modelcontextprotocol/")) };
}
