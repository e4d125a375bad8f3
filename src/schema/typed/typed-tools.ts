import {
  type Context,
  Fault,
  guard,
  type ItemReply,
  isObject,
  type JsonObject,
  type Layer,
  type Reply,
  type Request,
  resultOf,
  type Service,
  toFault,
} from "../../core/index.js";
import type { ToolSchemas } from "../convert/tool.js";
import { unresolved } from "../store/fault.js";
import { isHashed, type ListedTypedTool, type ToolTyper, toolTyper } from "./tool-typer.js";

// How proto-mcp travels between its wire and a service: keys of `_meta`, and what the block of a message looks like.
const INCLUDE_SCHEMAS = "buf.mcp.v1/include_schemas";
const INLINE_SCHEMA = "buf.mcp.v1/inline_schema";
const BSR_REF = "buf.mcp.v1/bsr_ref";
const TOOL_ERROR = "buf.mcp.v1/error";
const MESSAGE_URI = "proto:type.googleapis.com/";
const MESSAGE_MIME_TYPE = "application/x-protobuf";
/** JSON-RPC's code for arguments that break their schema. */
const VALIDATION_FAILED = -33001;

export interface TypedToolsOptions {
  /** Shared by everything that shows the same server; one of its own unless given. */
  readonly typer?: ToolTyper | undefined;
}

/**
 * Shows the tools of a JSON-RPC server to clients of proto-mcp as typed ones. A list that asks for schemas gets descriptors; a call whose
 * arguments are a message gets them as JSON to the server, and its structured result back as a message. Whatever else is said passes
 * unchanged, tools that bring descriptors themselves included.
 */
export function typedTools({ typer = toolTyper() }: TypedToolsOptions = {}): Layer {
  return (inner) => ({
    notify: (notification, context) => inner.notify(notification, context),
    call(request, context) {
      const { method, params } = request;
      if (method === "tools/list" && metaOf(params)[INCLUDE_SCHEMAS] === true)
        return guard(async function* (within): AsyncGenerator<Reply, undefined, undefined> {
          for await (const reply of inner.call(request, within)) yield reply.kind === "item" ? await described(reply, typer) : reply;
          return undefined;
        }, context);
      const packed = method === "tools/call" ? packedIn(params["arguments"]) : undefined;
      if (packed === undefined) return inner.call(request, context);
      return guard((within) => called(inner, request, within, { typer, packed }), context);
    },
  });
}

/** An item with its descriptors. What it weighs has to be found out anew. */
async function described({ weight: _, ...reply }: ItemReply, typer: ToolTyper): Promise<Reply> {
  const { [BSR_REF]: __, ...meta } = metaOf(reply.value);
  if (typeof reply.value["name"] !== "string" || meta[INLINE_SCHEMA] !== undefined) return reply;
  const { descriptors } = await typer.type(reply.value as unknown as ToolSchemas);
  // A tool has one source of its schema: who asks for the descriptors gets them.
  return { ...reply, value: { ...reply.value, _meta: { ...meta, [INLINE_SCHEMA]: Buffer.from(descriptors).toString("base64") } } };
}

interface Packed {
  readonly typeName: string;
  readonly bytes: Uint8Array;
}

async function* called(
  inner: Service,
  request: Request,
  context: Context,
  { typer, packed }: { typer: ToolTyper; packed: Packed },
): AsyncGenerator<Reply, JsonObject | undefined, undefined> {
  const { params } = request;
  const tool = await typedAs(inner, String(params["name"]), context, packed.typeName, typer);
  if (tool === "itself") {
    yield* inner.call(request, context);
    return undefined;
  }
  let args: unknown;
  try {
    args = tool.input.codec.decode(packed.bytes, "arguments");
    const checked = tool.fault === undefined ? await tool.input.codec.check(args, "arguments") : {};
    if ("problem" in checked) return refused(String(checked.problem));
  } catch (error) {
    return refused(toFault(error).message);
  }
  for await (const reply of inner.call({ ...request, params: { ...params, arguments: args } }, context))
    yield reply.kind === "result" ? { kind: "result", value: answered(reply.value, tool) } : reply;
  return undefined;
}

/** The tool that a message is for. One that takes messages itself is called as it is. */
async function typedAs(
  inner: Service,
  name: string,
  context: Context,
  typeName: string,
  typer: ToolTyper,
): Promise<ListedTypedTool | "itself"> {
  const known = typer.find(typeName);
  if (known?.name === name && known.input.typeName === typeName) return known;
  // Another process may have listed it, or it was long ago.
  let found: ListedTypedTool | "itself" | undefined;
  const replies = inner.call({ method: "tools/list", params: { _meta: { [INCLUDE_SCHEMAS]: true } } }, context);
  await resultOf(replies, async (reply) => {
    if (reply.kind !== "item" || reply.value["name"] !== name) return;
    if (metaOf(reply.value)[INLINE_SCHEMA] !== undefined) found = "itself";
    else found ??= await typer.type(reply.value as unknown as ToolSchemas);
  });
  if (found === undefined) throw new Fault("invalid-params", `there is no tool ${JSON.stringify(name)}`);
  if (found === "itself" || found.input.typeName === typeName) return found;
  if (isHashed(typeName))
    throw unresolved(
      "message",
      `the tool ${JSON.stringify(name)} takes a ${found.input.typeName}, and not a ${typeName}: list the tools again`,
    );
  // Two members of these names can be arguments like any other.
  return "itself";
}

/** A result with its structured content as a message, before its other content. */
function answered(result: JsonObject, { output }: ListedTypedTool): JsonObject {
  const { structuredContent, ...rest } = result;
  if (output === undefined || structuredContent === undefined || result["isError"] === true) return result;
  let bytes: Uint8Array;
  try {
    bytes = output.codec.encode(structuredContent, "structuredContent");
  } catch {
    // A server that breaks its own schema is shown as it is.
    return result;
  }
  const content = Array.isArray(rest["content"]) ? (rest["content"] as unknown[]) : [];
  const resource = { uri: `${MESSAGE_URI}${output.typeName}`, mimeType: MESSAGE_MIME_TYPE, blob: Buffer.from(bytes).toString("base64") };
  return { ...rest, content: [{ type: "resource", resource }, ...content] };
}

/** A result that says why nothing ran. */
function refused(why: string): JsonObject {
  const message = `invalid arguments\n${why}`;
  return { content: [{ type: "text", text: message }], isError: true, _meta: { [TOOL_ERROR]: { code: VALIDATION_FAILED, message } } };
}

/** Arguments that are a message, as an Any in JSON. */
function packedIn(args: unknown): Packed | undefined {
  if (!isObject(args) || Object.keys(args).length !== 2) return undefined;
  const { "@type": url, value } = args;
  if (typeof url !== "string" || typeof value !== "string" || !/^[A-Za-z0-9+/]*={0,2}$/.test(value)) return undefined;
  const typeName = url.slice(url.lastIndexOf("/") + 1);
  return typeName === "" || typeName.startsWith("google.protobuf.") ? undefined : { typeName, bytes: Buffer.from(value, "base64") };
}

function metaOf({ _meta }: JsonObject): JsonObject {
  return isObject(_meta) ? _meta : {};
}
