import { BSR_REF, INCLUDE_SCHEMAS, INLINE_SCHEMA, packedIn } from "../../codec/bufmcpv1/index.js";
import { isTyped, octetsOf } from "../../codec/protobuf/index.js";
import {
  type Context,
  guard,
  isObject,
  type JsonObject,
  jsonText,
  type Layer,
  type Reply,
  type Request,
  resultOf,
  type Service,
  toFault,
} from "../../core/index.js";
import { messageSchema } from "../back/json-schema.js";
import { typedToolLimits } from "../limits.js";
import type { StoredToolMessages } from "../store/messages.js";
import { type SchemaStore, schemaStore } from "../store/store.js";
import { messageCodec } from "../values/codec.js";
import { refusedArguments, TYPE_PREFIX } from "./typed-tools.js";

export interface BaseToolsOptions {
  /** Where references to schemas are looked up. Without it the server is asked for its descriptors. */
  readonly store?: SchemaStore | undefined;
}

type Known = Map<string, StoredToolMessages | undefined>;

/**
 * Shows the tools of a server of proto-mcp 1.0 to clients of JSON-RPC. Such a server has descriptors and no JSON Schema, and takes nothing
 * but messages: so lists get the JSON Schema of its descriptors, arguments become the message, and a message in a result becomes
 * `structuredContent`. Tools without descriptors, and arguments that are a message already, pass as they are.
 */
export function baseTools({ store }: BaseToolsOptions = {}): Layer {
  const schemas = store ?? schemaStore({ registries: {} });
  const known: Known = new Map();
  const listed = async function* (inner: Service, request: Request, context: Context): AsyncGenerator<Reply, undefined, undefined> {
    const { _meta } = request.params;
    const own = isObject(_meta) ? _meta : {};
    const asked = store === undefined ? { ...request, params: { ...request.params, _meta: { ...own, [INCLUDE_SCHEMAS]: true } } } : request;
    for await (const reply of inner.call(asked, context)) {
      if (reply.kind !== "item") yield reply;
      else {
        const messages = await messagesOf(reply.value, schemas, store !== undefined);
        if (known.size >= typedToolLimits.tools) known.clear();
        known.set(String(reply.value["name"]), messages);
        const { weight: _, ...item } = reply;
        yield { ...item, value: shown(reply.value, messages, own[INCLUDE_SCHEMAS] === true) };
      }
    }
    return undefined;
  };
  return (inner) => ({
    notify: (notification, context) => inner.notify(notification, context),
    call(request, context) {
      const { method, params } = request;
      if (method === "tools/list") return guard((within) => listed(inner, request, within), context);
      if (method !== "tools/call" || isTyped(params["arguments"])) return inner.call(request, context);
      return guard(async function* (within): AsyncGenerator<Reply, JsonObject | undefined, undefined> {
        const name = String(params["name"]);
        const list = { method: "tools/list", params: {} };
        if (!known.has(name)) await resultOf(guard((listing) => listed(inner, list, listing), within));
        const messages = known.get(name);
        if (messages === undefined) yield* inner.call(request, within);
        else return yield* called(inner, request, within, messages);
        return undefined;
      }, context);
    },
  });
}

async function* called(
  inner: Service,
  request: Request,
  context: Context,
  { input, output }: StoredToolMessages,
): AsyncGenerator<Reply, JsonObject | undefined, undefined> {
  const { params } = request;
  let bytes: Uint8Array;
  try {
    bytes = messageCodec(input).encode(params["arguments"] ?? {}, "arguments");
  } catch (error) {
    return refusedArguments(toFault(error).message);
  }
  const packed = { "@type": `${TYPE_PREFIX}${input.typeName}`, value: Buffer.from(bytes).toString("base64") };
  for await (const reply of inner.call({ ...request, params: { ...params, arguments: packed } }, context))
    yield reply.kind === "result" ? { kind: "result", value: structured(reply.value, output) } : reply;
  return undefined;
}

/** The messages that a tool names; undefined if it names none, or none that can be found. */
async function messagesOf(tool: JsonObject, schemas: SchemaStore, resolves: boolean): Promise<StoredToolMessages | undefined> {
  const { _meta, name } = tool;
  if (!isObject(_meta)) return undefined;
  const { [INLINE_SCHEMA]: inline, [BSR_REF]: reference } = _meta;
  try {
    if (typeof inline === "string") return inlineMessages(schemas, octetsOf(inline) ?? new Uint8Array(), String(name));
    return resolves && typeof reference === "string" ? await schemas.resolve(reference) : undefined;
  } catch {
    // One tool without a schema must not take the others from the client.
    return undefined;
  }
}

/** Messages are named after their tool, or there is one alone that is a request. */
function inlineMessages(schemas: SchemaStore, descriptors: Uint8Array, tool: string): StoredToolMessages {
  try {
    return schemas.inline(descriptors, { tool });
  } catch {
    return schemas.inline(descriptors);
  }
}

function shown(tool: JsonObject, messages: StoredToolMessages | undefined, inline: boolean): JsonObject {
  const { _meta, ...rest } = tool;
  const { [INLINE_SCHEMA]: descriptors, ...others } = isObject(_meta) ? _meta : {};
  const kept = inline ? _meta : others;
  return {
    ...rest,
    ...(messages === undefined ? undefined : inputSchemaOf(messages)),
    ...(isObject(kept) && Object.keys(kept).length > 0 ? { _meta: kept } : undefined),
  };
}

/** A tool whose descriptors make too large a schema takes any object. Its message is checked anyway. */
function inputSchemaOf({ input }: StoredToolMessages): JsonObject {
  try {
    return { inputSchema: messageSchema(input) };
  } catch {
    return { inputSchema: { type: "object" } };
  }
}

/** A result whose message of the tool's type is JSON, too. */
function structured(result: JsonObject, output: StoredToolMessages["output"]): JsonObject {
  const { content } = result;
  if (output === undefined || !Array.isArray(content)) return result;
  for (const [at, block] of content.entries()) {
    const any = isObject(block) ? packedIn(block) : undefined;
    if (!isTyped(any) || any["@type"].slice(any["@type"].lastIndexOf("/") + 1) !== output.typeName) continue;
    try {
      const value = messageCodec(output).decode(octetsOf(any.value) ?? new Uint8Array(), "structuredContent");
      return {
        ...result,
        content: content.map((each, index) => (index === at ? { type: "text", text: jsonText(value) } : each)),
        structuredContent: value,
      };
    } catch {
      // What the server's own schema does not fit is shown as it is.
      return result;
    }
  }
  return result;
}
