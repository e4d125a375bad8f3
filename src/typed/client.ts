import { create, type DescMessage, fromBinary, type Message, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { packedIn, TOOL_ERROR } from "../codec/bufmcpv1/index.js";
import { octetsOf } from "../codec/protobuf/index.js";
import { type CallOptions, type CallToolResult, Fault, fromRpcError, isObject, type JsonObject, type McpClient } from "../core/index.js";
import { messageCodec } from "../schema/index.js";
import { Messages } from "./messages.js";
import { VALIDATION_FAILED } from "./server.js";
import { protovalidate, type Validate } from "./validate.js";

export interface CallTypedOptions extends CallOptions {
  /** Checks the message before it is sent: by the rules of `buf.validate` unless given; `false` for no check. */
  readonly validate?: Validate | false;
}

/** The messages that a tool takes and returns. */
export interface ToolMessages<I extends DescMessage, O extends DescMessage> {
  readonly input: I;
  readonly output: O;
}

/** A client that calls tools with protobuf messages. */
export interface TypedClient extends McpClient {
  /** Rejects with a Fault if the message breaks its rules, before anything is sent, or if the tool failed. */
  callTyped<I extends DescMessage, O extends DescMessage>(
    name: string,
    messages: ToolMessages<I, O>,
    message: MessageInitShape<I>,
    options?: CallTypedOptions,
  ): Promise<MessageShape<O>>;
}

export function typedClient(client: McpClient): TypedClient {
  return Object.assign(Object.create(client) as McpClient, bound(client), {
    async callTyped<I extends DescMessage, O extends DescMessage>(
      name: string,
      { input, output }: ToolMessages<I, O>,
      init: MessageInitShape<I>,
      { validate, ...options }: CallTypedOptions = {},
    ): Promise<MessageShape<O>> {
      const message = create(input, init) as Message;
      if (validate !== false) check(validate ?? (await protovalidate()), input, message);
      const result = await client.callTool(name, messagesOf(input).packed(message), options);
      return answerIn(result, output) as MessageShape<O>;
    },
  });
}

const known = new WeakMap<DescMessage, Messages>();

function messagesOf(schema: DescMessage): Messages {
  let found = known.get(schema);
  if (found === undefined) known.set(schema, (found = new Messages(schema)));
  return found;
}

/** Binds the methods of a class, which need their own `this`. */
function bound(client: McpClient): Partial<McpClient> {
  const methods: Record<string, unknown> = {};
  for (let proto: object = client; proto !== Object.prototype; proto = Object.getPrototypeOf(proto)) {
    for (const name of Object.getOwnPropertyNames(proto)) {
      const value = Object.getOwnPropertyDescriptor(proto, name)?.value;
      if (name !== "constructor" && typeof value === "function") methods[name] ??= value.bind(client);
    }
  }
  return methods;
}

function check(validate: Validate, schema: DescMessage, message: Message): void {
  const [first, ...more] = validate(schema, message);
  if (first === undefined) return;
  const told = [first, ...more].map(({ field, rule, message: why }) => `${field}: ${why} [${rule}]`).join("\n");
  throw new Fault("invalid-params", told, { rpcCode: VALIDATION_FAILED, data: { field: first.field, rule: first.rule } });
}

function answerIn(result: CallToolResult, output: DescMessage): Message {
  const { content, structuredContent, isError, _meta } = result as CallToolResult & JsonObject;
  if (isError === true) {
    const error = isObject(_meta) ? _meta[TOOL_ERROR] : undefined;
    if (isObject(error)) throw fromRpcError(error as never);
    const said = content.map((block) => ("text" in block ? block.text : "")).join("\n");
    throw new Fault("application", said === "" ? "the tool failed" : said);
  }
  for (const block of content) {
    const any = packedIn(block as unknown as JsonObject);
    if (any === undefined) continue;
    const name = String(any["@type"]).replace(/^.*\//, "");
    if (name !== output.typeName) throw new Fault("invalid-request", `the tool gave a ${name}, and not a ${output.typeName}`);
    return fromBinary(output, octetsOf(String(any["value"])) as Uint8Array);
  }
  if (structuredContent === undefined) throw new Fault("invalid-request", `the tool gave no ${output.typeName}`);
  return fromBinary(output, messageCodec(output).encode(structuredContent, "structuredContent"));
}
