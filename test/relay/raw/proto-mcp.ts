import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { create, type DescField, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { isReflectList, isReflectMessage, type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { type MCPMessage, MCPMessageSchema } from "../../../src/codec/gen/buf/mcp/v1/mcp_pb.js";
import { type Exact, exact, textOf } from "../json.js";
import { bytesOf } from "./proto.js";
import { hostOf, portOf } from "./sockets.js";
import type { RawWire } from "./types.js";

// Both ends of proto-mcp 1.3 by protobuf-es and docs/mapping/buf-mcp-v1.md. They write every message as JsonRpc, and read what has a payload of its own.

const utf8 = new TextDecoder();

/** The members of JSON-RPC. Others stand beside the payload. */
const named: ReadonlySet<string> = new Set(["jsonrpc", "id", "method", "params", "result", "error"]);

/** A message of JSON-RPC as a frame. */
function frameOf(text: string): Buffer {
  const members = new Map(exact(text).kind === "object" ? (exact(text) as Extract<Exact, { kind: "object" }>).members : []);
  const id = members.get("id");
  const bytes = (name: string): { [name: string]: Uint8Array } => {
    const value = members.get(name);
    return value === undefined ? {} : { [name]: bytesOf(value) };
  };
  const method = members.get("method");
  const whole = id?.kind === "number" && /^[1-9]\d{0,14}$/.test(id.text);
  const value = { ...(method?.kind === "string" && { method: method.value }), ...bytes("params"), ...bytes("result"), ...bytes("error") };
  const others = [...members].filter(([name]) => !named.has(name) || (name === "params" && method === undefined));
  return framed({
    ...(id === undefined || textOf(id) === "null" ? undefined : whole ? { id: BigInt(textOf(id)) } : { idJson: bytesOf(id) }),
    ...(others.length > 0 && { otherMembers: bytesOf({ kind: "object", members: others }) }),
    payload: { case: "jsonRpc", value },
  });
}

function framed(message: MessageInitShape<typeof MCPMessageSchema>): Buffer {
  const bytes = toBinary(MCPMessageSchema, create(MCPMessageSchema, message));
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(bytes.length);
  return Buffer.concat([prefix, bytes]);
}

const methods: Readonly<Record<string, string>> = {
  initializeRequest: "initialize",
  listToolsRequest: "tools/list",
  callToolRequest: "tools/call",
  listResourcesRequest: "resources/list",
  readResourceRequest: "resources/read",
  progressNotification: "notifications/progress",
  cancelledNotification: "notifications/cancelled",
  listPromptsRequest: "prompts/list",
  getPromptRequest: "prompts/get",
  listResourceTemplatesRequest: "resources/templates/list",
  completeRequest: "completion/complete",
};

/** A message of JSON-RPC out of an MCPMessage. */
function textIn(message: MCPMessage): string {
  const { case: name = "", value } = message.payload;
  const id = message.idJson === undefined ? message.id?.toString() : utf8.decode(message.idJson);
  const head = id === undefined ? '"jsonrpc":"2.0"' : `"jsonrpc":"2.0","id":${id}`;
  const reflected = reflect(MCPMessageSchema, message).get(MCPMessageSchema.field[name as keyof typeof MCPMessageSchema.field]);
  if (value === undefined || !isReflectMessage(reflected)) throw new Error(`no payload is known in ${head}`);
  const others = message.otherMembers === undefined ? "" : utf8.decode(message.otherMembers).slice(1, -1);
  const beside = others === "" ? "" : `,${others}`;
  const members = membersOf(reflected);
  if (name === "jsonRpc") return `{${[head, ...members].join()}${beside}}`;
  if (name === "errorResponse") return `{${id === undefined ? '"jsonrpc":"2.0","id":null' : head},"error":{${members.join()}}${beside}}`;
  const method = methods[name];
  return method === undefined
    ? `{${head},"result":{${members.join()}}${beside}}`
    : `{${head},"method":"${method}","params":{${members.join()}}${beside}}`;
}

const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const names: Readonly<Record<string, string>> = {
  meta: "_meta",
  metadata: "_meta",
  mcpVersion: "protocolVersion",
  mcpCapabilities: "capabilities",
};
/** What the handshake says to peers of proto-mcp alone. */
const handshake = new Set(["protocol_version", "capabilities", "metadata", "probe"]);

/** The members that a message stands for, each as the text of its name and value. */
function membersOf(message: ReflectMessage): string[] {
  const { name } = message.desc;
  // A list that is not written is empty. Where other members are, it is absent.
  const whole = !message.fields.some((field) => field.name === "other_members" && message.isSet(field));
  const isList = (field: DescField): boolean =>
    whole && field.fieldKind === "list" && (field.listKind === "message" || field.name === "values");
  const fields = message.fields.filter((field) => message.isSet(field) || isList(field));
  if (name === "CallToolResponse")
    return fields.flatMap((field) => (field.name === "success" ? inside(message, field) : member(message, field)));
  if (/^Initialize/.test(name)) return fields.filter((field) => !handshake.has(field.name)).flatMap((field) => member(message, field));
  if (name === "ToolContent") return contentOf(message, fields);
  if (name === "CancelledNotification") return cancelled(message, fields);
  return fields.flatMap((field) => member(message, field));
}

function inside(message: ReflectMessage, field: DescField): string[] {
  const value = message.get(field);
  return isReflectMessage(value) ? membersOf(value) : [];
}

function member(message: ReflectMessage, field: DescField): string[] {
  const value: unknown = message.get(field);
  if (field.name === "other_members") return [utf8.decode(value as Uint8Array).slice(1, -1)].filter((text) => text !== "");
  const plain = camel(field.name.replace(/_json$/, ""));
  const name = JSON.stringify(names[plain] ?? plain);
  if (field.name.endsWith("_json") || message.desc.name === "JsonRpc")
    return [`${name}:${typeof value === "string" ? JSON.stringify(value) : utf8.decode(value as Uint8Array)}`];
  return [`${name}:${jsonOf(value)}`];
}

function jsonOf(value: unknown): string {
  if (isReflectList(value)) return `[${[...value].map(jsonOf).join()}]`;
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString("base64"));
  if (typeof value === "bigint") return String(value);
  if (isReflectMessage(value)) {
    if (value.desc.name !== "ProgressToken") return `{${membersOf(value).join()}}`;
    return value.fields.filter((field) => value.isSet(field)).map((field) => jsonOf(value.get(field)))[0] ?? "null";
  }
  return JSON.stringify(
    value instanceof Object && Symbol.iterator in value ? Object.fromEntries(value as Iterable<[string, unknown]>) : value,
  );
}

function contentOf(message: ReflectMessage, fields: readonly DescField[]): string[] {
  return fields.flatMap((field): string[] => {
    if (field.name === "block_json") return [utf8.decode(message.get(field) as Uint8Array).slice(1, -1)];
    if (field.name === "image") return ['"type":"image"', `"data":${jsonOf(message.get(field))}`];
    return field.name === "text" ? ['"type":"text"', ...member(message, field)] : member(message, field);
  });
}

function cancelled(message: ReflectMessage, fields: readonly DescField[]): string[] {
  const number = fields.some(({ name }) => name === "request_id_is_number");
  return fields.flatMap((field) => {
    if (field.name === "request_id") return [`"requestId":${number ? String(message.get(field)) : jsonOf(message.get(field))}`];
    return field.name === "request_id_is_number" ? [] : member(message, field);
  });
}

function messages(socket: Socket, take: (message: MCPMessage) => void): void {
  let rest = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32BE()) {
      const end = 4 + rest.readUInt32BE();
      take(fromBinary(MCPMessageSchema, rest.subarray(4, end)));
      rest = rest.subarray(end);
    }
  });
  socket.on("error", () => {});
}

const PROBE = 4_000_000n;

export const protomcp: RawWire = {
  async client(address, _era, take) {
    const socket = connect(Number(hostOf(address).split(":")[1]), "127.0.0.1");
    const ready = new Promise<void>((resolve) =>
      messages(socket, (message) => {
        if (message.id === PROBE) resolve();
        else take(textIn(message));
      }),
    );
    await once(socket, "connect");
    socket.write(framed({ id: PROBE, payload: { case: "initializeRequest", value: { protocolVersion: "1.3.0", probe: true } } }));
    await ready;
    return {
      send: (text) => void socket.write(frameOf(text)),
      read: (on) => void (on ? socket.resume() : socket.pause()),
      async close() {
        socket.destroy();
      },
    };
  },
  async server(_era, take, wanted) {
    let current: Socket | undefined;
    const listener = createServer((socket) => {
      current = socket;
      messages(socket, (message) => {
        const { id = 0n, payload } = message;
        if (payload.case === "initializeRequest" && payload.value.probe === true)
          socket.write(
            framed({ id, payload: { case: "initializeResponse", value: { protocolVersion: "1.3.0", mcpVersion: "2026-07-28" } } }),
          );
        else take(textIn(message));
      });
    });
    const port = await portOf(listener, wanted);
    return {
      address: `proto+tcp://127.0.0.1:${port}`,
      send: (text) => void current?.write(frameOf(text)),
      async close() {
        current?.destroy();
        listener.close();
      },
    };
  },
};
