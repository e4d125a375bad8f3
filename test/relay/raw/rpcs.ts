import { create, type DescMessage } from "@bufbuild/protobuf";
import { McpService } from "../../../src/codec/gen/index.js";
import { at, type Exact, exact, stringAt } from "../json.js";
import { items, progress, progressParams } from "./grpc-frames.js";
import { bytesOf, fromMessage, jsonOf, type Members, object, type Plain, toMessage } from "./proto.js";

export interface Rpc {
  readonly path: string;
  readonly method: string;
  readonly input: DescMessage;
  readonly output: DescMessage;
  /** One answer, items, chunks, or progress and then a result. */
  readonly answer: "one" | "items" | "chunks" | "progress";
}

const named: readonly (readonly [keyof typeof McpService.method, string, Rpc["answer"]])[] = [
  ["initialize", "initialize", "one"],
  ["listTools", "tools/list", "items"],
  ["callTool", "tools/call", "one"],
  ["callToolWithProgress", "tools/call", "progress"],
  ["listResources", "resources/list", "items"],
  ["listResourceTemplates", "resources/templates/list", "items"],
  ["readResource", "resources/read", "one"],
  ["readResourceChunked", "resources/read", "chunks"],
  ["listPrompts", "prompts/list", "items"],
  ["getPrompt", "prompts/get", "one"],
  ["complete", "completion/complete", "one"],
];

export const rpcs: readonly Rpc[] = named.map(([name, method, answer]) => {
  const { input, output } = McpService.method[name];
  return { path: `/mcp.v1.McpService/${McpService.method[name].name}`, method, input, output, answer };
});

/** The RPC for a client's request, if there is one. */
export function rpcFor(text: string): Rpc | undefined {
  const message = exact(text);
  const token = at(message, "params", "_meta", "progressToken");
  const fitting = rpcs.filter(({ method, answer }) => method === stringAt(message, "method") && answer !== "chunks");
  return fitting.find(({ answer }) => (answer === "progress") === (token !== undefined)) ?? fitting[0];
}

const string = (value: string): Exact => ({ kind: "string", value });
const inside = (desc: DescMessage, field: string): DescMessage => (desc.field[field] as unknown as { message: DescMessage }).message;
const members = (value: Exact | undefined): Members => (value?.kind === "object" ? [...value.members] : []);

export function requestMessage({ input, answer }: Rpc, params: Exact | undefined): Plain {
  const made = toMessage(input, answer === "progress" ? members(params).filter(([name]) => name !== "progressToken") : members(params));
  return params === undefined ? (create(input) as unknown as Plain) : made;
}

/** Params of a request as a server hears them; what makes a read a chunked one is no part of them. */
export function requestParams({ input, answer }: Rpc, message: Plain): Exact {
  const { chunkSize, offset, progressToken, ...rest } = message;
  const token = (progressToken as { token: { value: bigint | string } } | undefined)?.token.value;
  const params = fromMessage(input, rest);
  if (answer !== "progress" || token === undefined) return object(params);
  const own: Members = [["progressToken", typeof token === "string" ? string(token) : exact(String(token))]];
  const meta = new Map(params).get("_meta");
  return object([...params.filter(([name]) => name !== "_meta"), ["_meta", object([...members(meta), ...own])]]);
}

/** A result as the messages of its answer. */
export function resultMessages({ method, output, answer }: Rpc, result: Members): Plain[] {
  const make = (values: Plain): Plain => Object.assign(create(output) as unknown as Plain, values);
  if (answer === "one") return [toMessage(output, result)];
  if (answer === "progress") return [make({ update: { case: "result", value: toMessage(inside(output, "result"), result) } })];
  const member = answer === "items" ? (items[method]?.[0] ?? "") : "contents";
  const listed = new Map(result).get(member);
  const values = listed?.kind === "array" ? listed.items.map(members) : [];
  const rest = toMessage(
    inside(output, "rest"),
    result.filter(([name]) => name !== member || (answer === "chunks" && values.length === 0)),
  );
  if (answer === "items") {
    const field = items[method]?.[1] ?? "";
    return [...values.map((value) => make({ [field]: toMessage(inside(output, field), value) })), make({ rest })];
  }
  return [...values.flatMap((value) => contentMessages(output, make, new Map(value))), make({ isFinal: true, rest })];
}

/** A content as its beginning and one chunk. */
function contentMessages(output: DescMessage, make: (values: Plain) => Plain, content: Map<string, Exact>): Plain[] {
  const [text, blob, uri, mimeType] = ["text", "blob", "uri", "mimeType"].map((name) => content.get(name));
  const canonical = blob?.kind === "string" && Buffer.from(blob.value, "base64").toString("base64") === blob.value;
  const form = text?.kind === "string" ? 1 : canonical ? 2 : 3;
  const head: Plain = {};
  for (const [name, value] of [
    ["uri", uri],
    ["mimeType", mimeType],
  ] as const)
    if (value?.kind === "string" && !/\p{Surrogate}/u.test(value.value)) head[name] = value.value;
  const data = form === 1 ? "text" : form === 2 ? "blob" : undefined;
  const rest = [...content].filter(([name]) => name !== data && !Object.hasOwn(head, name));
  const begin = Object.assign(toMessage(inside(output, "begin"), rest), { form });
  const first = make({ ...head, begin });
  if (text?.kind === "string") {
    const whole = !/\p{Surrogate}/u.test(text.value);
    return [
      first,
      make({
        content: whole
          ? { case: "textChunk", value: text.value }
          : { case: "textChunkJson", value: Buffer.from(JSON.stringify(text.value)) },
      }),
    ];
  }
  return form === 2 && blob?.kind === "string"
    ? [first, make({ content: { case: "blobChunk", value: Buffer.from(blob.value, "base64") } })]
    : [first];
}

/** What a client hears of an answer that comes in messages: notifications, and in the end the result. */
export class AnswerReader {
  readonly #rpc: Rpc;
  readonly #token: Exact | undefined;
  readonly #items: Exact[] = [];
  result: Members | undefined;
  error: Exact | undefined;
  /** The first page of a list ended: more of it is not wanted. */
  ended = false;

  constructor(rpc: Rpc, token: Exact | undefined) {
    this.#rpc = rpc;
    this.#token = token;
  }

  /** Takes a message; gives a notification if it is one. */
  take(message: Plain): readonly [method: string, params?: Exact] | undefined {
    const { method, output, answer } = this.#rpc;
    const note = message["notification"] as Plain | undefined;
    if (note?.["errorJson"] !== undefined) {
      this.error = jsonOf(note["errorJson"]);
      return undefined;
    }
    if (note !== undefined) {
      const named = note["method"] as string;
      return note["paramsJson"] === undefined ? [named] : [named, jsonOf(note["paramsJson"])];
    }
    if (answer === "one") this.result = fromMessage(output, message);
    else if (answer === "progress") return this.#update(output, message["update"] as { case: string; value: Plain });
    else {
      const [member = "", field = ""] = items[method] ?? [];
      const item = message[field] as Plain | undefined;
      const page = message["page"] as Plain | undefined;
      if (item !== undefined) this.#items.push(object(fromMessage(inside(output, field), item)));
      const rest = (page ?? message)["rest"] as Plain | undefined;
      const cursor: Members = page === undefined ? [] : [["nextCursor", string((page["cursor"] as string | undefined) ?? "")]];
      this.ended = page !== undefined;
      this.result = [
        [member, { kind: "array", items: [...this.#items] }],
        ...cursor,
        ...(rest === undefined ? [] : fromMessage(inside(output, "rest"), rest)),
      ];
    }
    return undefined;
  }

  #update(output: DescMessage, update: { case: string; value: Plain }): readonly [string, Exact] | undefined {
    const desc = inside(output, update.case);
    if (update.case === "result") this.result = fromMessage(desc, update.value);
    else if (update.case === "error") this.error = object(fromMessage(desc, update.value));
    else {
      const params = members(progressParams(desc, update.value)).filter(([name]) => name !== "progressToken");
      return [
        "notifications/progress",
        object([...(this.#token === undefined ? [] : ([["progressToken", this.#token]] as const)), ...params]),
      ];
    }
    return undefined;
  }

  /** The result of a list that had no message. */
  get whole(): Members {
    return this.result ?? [[items[this.#rpc.method]?.[0] ?? "", { kind: "array", items: [] }]];
  }
}

/** A notification that belongs to a call, as a message of its answer; undefined where that has no place for it. */
export function noteMessage({ output, answer }: Rpc, message: Exact): Plain | undefined {
  const method = stringAt(message, "method") ?? "";
  const params = at(message, "params");
  const made = create(output) as unknown as Plain;
  if (answer === "progress" && method === "notifications/progress")
    return Object.assign(made, { update: { case: "progress", value: progress(inside(output, "progress"), members(params)) } });
  if (answer === "one") return undefined;
  const note = Object.assign(create(inside(output, "notification")) as unknown as Plain, {
    method,
    notification: true,
    ...(params && { paramsJson: bytesOf(params) }),
  });
  return Object.assign(made, { notification: note });
}
