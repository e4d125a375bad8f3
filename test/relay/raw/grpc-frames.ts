import { create, type DescField, type DescMessage } from "@bufbuild/protobuf";
import { McpService } from "../../../src/codec/gen/index.js";
import { at, type Exact, exact, stringAt, textOf } from "../json.js";
import { bytesOf, fromMessage, jsonOf, type Members, membersIn, object, type Plain, put, toMessage } from "./proto.js";

export const frames = { toServer: McpService.method.session.input, toClient: McpService.method.session.output };

/** The payloads of methods that have one, and where the items of a list are. */
const payloads: Readonly<Record<string, string>> = {
  initialize: "initialize",
  "tools/list": "listTools",
  "tools/call": "callTool",
  "resources/list": "listResources",
  "resources/templates/list": "listResourceTemplates",
  "resources/read": "readResource",
  "prompts/list": "listPrompts",
  "prompts/get": "getPrompt",
  "completion/complete": "complete",
};
export const items: Readonly<Record<string, readonly [member: string, field: string]>> = {
  "tools/list": ["tools", "tool"],
  "resources/list": ["resources", "resource"],
  "resources/templates/list": ["resourceTemplates", "resourceTemplate"],
  "prompts/list": ["prompts", "prompt"],
};

const string = (value: string): Exact => ({ kind: "string", value });
const reserved = new Set(["jsonrpc", "id", "method", "params", "result", "error"]);

function messageOf(desc: DescMessage, field: string): DescMessage {
  return (desc.field[field] as DescField & { message: DescMessage }).message;
}

/** A frame with the id, what JSON-RPC does not name, and a payload. */
function frame(desc: DescMessage, message: Exact, payload: readonly [string, Plain], names: readonly [id: string, flag: string]): Plain {
  const made = create(desc) as unknown as Plain;
  const id = at(message, "id");
  if (id?.kind === "string") made[names[0]] = id.value;
  if (id?.kind === "number") Object.assign(made, { [names[0]]: id.text, [names[1]]: true });
  const extra = message.kind === "object" ? message.members.filter(([name]) => !reserved.has(name)) : [];
  if (extra.length > 0) made["otherMembers"] = bytesOf(object(extra));
  put(made, desc.field[payload[0]] as DescField, payload[1]);
  return made;
}

function generic(desc: DescMessage, message: Exact): readonly [string, Plain] {
  const made = create(messageOf(desc, "generic")) as unknown as Plain;
  const method = stringAt(message, "method");
  if (method !== undefined) made["method"] = method;
  for (const name of ["params", "result", "error"]) {
    const value = at(message, name);
    if (value !== undefined && !(name === "params" && method === undefined)) made[`${name}Json`] = bytesOf(value);
  }
  if (method !== undefined && at(message, "id") === undefined) made["notification"] = true;
  return ["generic", made];
}

function membersOf(value: Exact | undefined): Members {
  return value?.kind === "object" ? [...value.members] : [];
}

/** A client's message as a SessionRequest. */
export function toServer(text: string): Plain {
  const message = exact(text);
  const method = stringAt(message, "method");
  const params = at(message, "params");
  if (method === "notifications/cancelled")
    return frame(
      frames.toServer,
      message,
      ["cancel", cancel(messageOf(frames.toServer, "cancel"), membersOf(params))],
      ["messageId", "numericId"],
    );
  const name = method === undefined || params === undefined ? undefined : payloads[method];
  const payload =
    name === undefined
      ? generic(frames.toServer, message)
      : ([name, toMessage(messageOf(frames.toServer, name), membersOf(params))] as const);
  return frame(frames.toServer, message, payload, ["messageId", "numericId"]);
}

function cancel(desc: DescMessage, params: Members): Plain {
  const id = new Map(params).get("requestId");
  const numeric = id?.kind === "number" ? { requestId: id.text, numericId: true } : { requestId: id?.kind === "string" ? id.value : "" };
  return Object.assign(
    toMessage(
      desc,
      params.filter(([name]) => name !== "requestId"),
    ),
    numeric,
  );
}

/** The text of a message from its parts. */
function written(id: Exact | undefined, parts: Members, extra: unknown): string {
  return textOf(object([["jsonrpc", string("2.0")], ...(id === undefined ? [] : ([["id", id]] as const)), ...parts, ...membersIn(extra)]));
}

function idOf(value: unknown, numeric: unknown): Exact | undefined {
  return value === undefined ? undefined : numeric === true ? exact(value as string) : string(value as string);
}

function genericParts(payload: Plain): Members {
  const parts: Members = payload["method"] === undefined ? [] : [["method", string(payload["method"] as string)]];
  for (const name of ["params", "result", "error"])
    if (payload[`${name}Json`] !== undefined) parts.push([name, jsonOf(payload[`${name}Json`])]);
  return parts;
}

/** A SessionRequest as text. */
export function fromClient(message: Plain): string {
  const { case: name, value } = message["payload"] as { case: string; value: Plain };
  const id = idOf(message["messageId"], message["numericId"]);
  if (name === "generic") return written(value["notification"] === true ? undefined : id, genericParts(value), message["otherMembers"]);
  if (name === "cancel") {
    const { requestId, numericId, ...rest } = value;
    const params: Members = [
      ["requestId", idOf(requestId, numericId) ?? exact("null")],
      ...fromMessage(messageOf(frames.toServer, name), rest).filter(([member]) => member !== "numericId"),
    ];
    return written(
      undefined,
      [
        ["method", string("notifications/cancelled")],
        ["params", object(params)],
      ],
      message["otherMembers"],
    );
  }
  const method =
    Object.entries(payloads).find(([, field]) => field === name)?.[0] ?? (name === "readResourceChunked" ? "resources/read" : name);
  const params = fromMessage(messageOf(frames.toServer, name), value);
  const none = params.length === 0 && value["otherMembers"] === undefined;
  return written(id, [["method", string(method)], ...(none ? [] : ([["params", object(params)]] as const))], message["otherMembers"]);
}

/** A server's message as SessionResponses: a list is its items and an end. */
export function toClient(text: string, methodOf: (id: string) => string | undefined): Plain[] {
  const message = exact(text);
  const id = at(message, "id");
  const reply = ["inReplyTo", "numericReply"] as const;
  const desc = frames.toClient;
  if (at(message, "method") !== undefined) {
    if (stringAt(message, "method") === "notifications/progress")
      return [frame(desc, message, ["progress", progress(messageOf(desc, "progress"), membersOf(at(message, "params")))], reply)];
    return [frame(desc, message, generic(desc, message), ["messageId", "numericId"])];
  }
  if (at(message, "error") !== undefined)
    return [frame(desc, message, ["error", toMessage(messageOf(desc, "error"), membersOf(at(message, "error")))], reply)];
  const method = methodOf(textOf(id as Exact)) ?? "";
  const result = membersOf(at(message, "result"));
  const list = items[method];
  const name = payloads[method];
  if (list !== undefined && name !== undefined) {
    const item = messageOf(messageOf(desc, name), list[1]);
    const listed = new Map(result).get(list[0]);
    const parts = (listed?.kind === "array" ? listed.items : []).map((one) =>
      frame(desc, message, [name, itemOf(messageOf(desc, name), list[1], toMessage(item, membersOf(one)))], reply),
    );
    const end = messageOf(desc, "streamEnd");
    const rest = toMessage(
      messageOf(end, "rest"),
      result.filter(([member]) => member !== list[0]),
    );
    const ended = Object.assign(create(end) as unknown as Plain, {
      requestId: id?.kind === "string" ? id.value : id?.kind === "number" ? id.text : "",
      rest,
    });
    return [...parts, frame(desc, message, ["streamEnd", ended], reply)];
  }
  if (name === undefined) return [frame(desc, message, generic(desc, message), reply)];
  return [frame(desc, message, [name, toMessage(messageOf(desc, name), result)], reply)];
}

function itemOf(desc: DescMessage, field: string, value: Plain): Plain {
  const made = create(desc) as unknown as Plain;
  made[field] = value;
  return made;
}

/** Progress has its token in a message of its own. */
export function progress(desc: DescMessage, params: Members): Plain {
  const made = toMessage(
    desc,
    params.filter(([name]) => name !== "progressToken"),
  );
  const token = new Map(params).get("progressToken");
  const own = create(messageOf(desc, "progressToken")) as unknown as Plain;
  own["token"] =
    token?.kind === "number"
      ? { case: "intToken", value: BigInt(token.text) }
      : { case: "stringToken", value: token?.kind === "string" ? token.value : "" };
  made["progressToken"] = own;
  return made;
}

export function progressParams(desc: DescMessage, { progressToken, ...rest }: Plain): Exact {
  const token = (progressToken as { token: { value: bigint | string } } | undefined)?.token.value;
  const first: Members = token === undefined ? [] : [["progressToken", typeof token === "string" ? string(token) : exact(String(token))]];
  return object([...first, ...fromMessage(desc, rest)]);
}

/** Puts the parts of answers together until they are whole. */
export class Parts {
  readonly #lists = new Map<string, { readonly listed: Exact[]; left: boolean }>();
  readonly #methodOf: (id: string) => string | undefined;

  readonly #leave: (id: string) => void;

  /** `leave` ends a list after its first page: a client that wants the next asks for it. */
  constructor(methodOf: (id: string) => string | undefined, leave: (id: string) => void) {
    this.#methodOf = methodOf;
    this.#leave = leave;
  }

  /** The text of a SessionResponse, if it makes a message whole. */
  take(message: Plain): string | undefined {
    const { case: name, value } = message["payload"] as { case: string; value: Plain };
    const desc = messageOf(frames.toClient, name);
    const reply = idOf(message["inReplyTo"], message["numericReply"]);
    const extra = message["otherMembers"];
    if (name === "generic") {
      const id = value["notification"] === true ? undefined : (reply ?? idOf(message["messageId"], message["numericId"]));
      return written(id, genericParts(value), extra);
    }
    if (name === "progress")
      return written(
        undefined,
        [
          ["method", string("notifications/progress")],
          ["params", progressParams(desc, value)],
        ],
        extra,
      );
    if (name === "error" || name === "streamError") return written(reply, [["error", object(fromMessage(desc, value))]], extra);
    const key = textOf(reply ?? string(""));
    const method = this.#methodOf(key) ?? "";
    const list = items[method];
    // Only what was cancelled ends so: nobody waits for it.
    if (list === undefined && name === "streamEnd") return undefined;
    if (list === undefined) return written(reply, [["result", object(fromMessage(desc, value))]], extra);
    const open = this.#lists.get(key) ?? { listed: [], left: false };
    this.#lists.set(key, open);
    if (open.left) return undefined;
    const item = value[list[1]] as Plain | undefined;
    if (item !== undefined) open.listed.push(object(fromMessage(messageOf(desc, list[1]), item)));
    const page = value["page"] as Plain | undefined;
    if (page === undefined && name !== "streamEnd") return undefined;
    open.left = true;
    if (page !== undefined) this.#leave(key);
    const restDesc = messageOf(page === undefined ? desc : messageOf(desc, "page"), "rest");
    const rest = (page ?? value)["rest"] as Plain | undefined;
    const next: Members = page === undefined ? [] : [["nextCursor", string((page["cursor"] as string | undefined) ?? "")]];
    return written(
      reply,
      [
        [
          "result",
          object([[list[0], { kind: "array", items: open.listed }], ...next, ...(rest === undefined ? [] : fromMessage(restDesc, rest))]),
        ],
      ],
      extra,
    );
  }
}
