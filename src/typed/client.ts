import { create, type DescMessage, fromBinary, type Message, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { packedIn, TOOL_ERROR, VALIDATION_FAILED } from "../codec/bufmcpv1/index.js";
import { octetsOf } from "../codec/protobuf/index.js";
import {
  type CallToolResult,
  type CallTypedOptions,
  Fault,
  fromRpcError,
  isObject,
  type JsonObject,
  type McpClient,
  type ToolMessages,
  type Validate,
} from "../core/index.js";
import { messageCodec } from "../schema/index.js";
import { Messages } from "./messages.js";
import { protovalidate } from "./validate.js";

export async function callTyped<I extends DescMessage, O extends DescMessage>(
  client: McpClient,
  name: string,
  { input, output }: ToolMessages<I, O>,
  init: MessageInitShape<I>,
  { validate, ...options }: CallTypedOptions = {},
): Promise<MessageShape<O>> {
  const message = create(input, init) as Message;
  if (validate !== false) check(validate ?? usual ?? (usual = await protovalidate()), input, message);
  const result = await client.callTool(name, messagesOf(input).packed(message), options);
  return answerIn(result, output) as MessageShape<O>;
}

/** What checks messages unless something else is given, once it is loaded. */
let usual: Validate | undefined;

const known = new WeakMap<DescMessage, Messages>();

function messagesOf(schema: DescMessage): Messages {
  let found = known.get(schema);
  if (found === undefined) known.set(schema, (found = new Messages(schema)));
  return found;
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
    const url = String(any["@type"]);
    const name = url.slice(url.lastIndexOf("/") + 1);
    if (name !== output.typeName) throw new Fault("invalid-request", `the tool gave a ${name}, and not a ${output.typeName}`);
    return fromBinary(output, octetsOf(String(any["value"])) as Uint8Array);
  }
  if (structuredContent === undefined) throw new Fault("invalid-request", `the tool gave no ${output.typeName}`);
  return fromBinary(output, messageCodec(output).encode(structuredContent, "structuredContent"));
}
