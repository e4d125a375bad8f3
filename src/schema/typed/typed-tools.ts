import {
  BSR_REF,
  BSR_REFS,
  INCLUDE_SCHEMAS,
  INLINE_SCHEMA,
  MESSAGE_MIME_TYPE,
  MESSAGE_URI,
  TOOL_ERROR,
  VALIDATION_FAILED,
} from "../../codec/bufmcpv1/index.js";
import { isTyped, octetsOf } from "../../codec/protobuf/index.js";
import {
  type Context,
  Fault,
  guard,
  INVALID_ARGUMENTS,
  type ItemReply,
  isMessage,
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

export const TYPE_PREFIX = "type.googleapis.com/";

/** Tools that are remembered to take messages themselves. */
const NATIVE = 1_024;

export interface TypedToolsOptions {
  /** Shared by everything that shows the same server; its own unless given. */
  readonly typer?: ToolTyper | undefined;
}

/**
 * Shows the tools of a JSON-RPC server to proto-mcp clients as typed tools. A list that asks for schemas gets descriptors. If the arguments
 * of a call are a message, the server gets them as JSON, and its structured result becomes a message. Everything else passes unchanged,
 * including tools that have descriptors themselves.
 */
export function typedTools({ typer = toolTyper() }: TypedToolsOptions = {}): Layer {
  /** Tools that take messages themselves, so that not every call asks for the list. */
  const native = new Set<string>();
  return (inner) => ({
    notify: (notification, context) => inner.notify(notification, context),
    call(request, context) {
      const { method, params } = request;
      if (method === "tools/list" && metaOf(params)[INCLUDE_SCHEMAS] === true)
        return guard(async function* (within): AsyncGenerator<Reply, undefined, undefined> {
          for await (const reply of inner.call(request, within))
            if (reply.kind !== "item") yield reply;
            else if (isWanted(reply.value, params)) yield await described(reply, typer);
          return undefined;
        }, context);
      const packed = method === "tools/call" ? packedIn(params["arguments"]) : undefined;
      if (packed === undefined) return inner.call(request, context);
      return guard((within) => called(inner, request, within, { typer, native, packed }), context);
    },
  });
}

/** Whether a tool is one of those that a list was asked for by reference, which its descriptors take the place of. */
function isWanted(tool: JsonObject, params: JsonObject): boolean {
  const refs = metaOf(params)[BSR_REFS];
  const { [BSR_REF]: ref, [INLINE_SCHEMA]: inline } = metaOf(tool);
  return inline !== undefined || !Array.isArray(refs) || refs.length === 0 || refs.includes(ref);
}

/** An item with its descriptors. Its weight has to be computed again. */
async function described({ weight: _, ...reply }: ItemReply, typer: ToolTyper): Promise<Reply> {
  const { [BSR_REF]: __, ...meta } = metaOf(reply.value);
  if (typeof reply.value["name"] !== "string" || meta[INLINE_SCHEMA] !== undefined) return reply;
  const { descriptors } = await typer.type(reply.value as unknown as ToolSchemas);
  // A tool has one schema source. A client that asks for the descriptors gets those.
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
  { typer, native, packed }: { typer: ToolTyper; native: Set<string>; packed: Packed },
): AsyncGenerator<Reply, JsonObject | undefined, undefined> {
  const { params } = request;
  const key = JSON.stringify([params["name"], packed.typeName]);
  const tool = native.has(key) ? "itself" : await typedAs(inner, params, context, packed.typeName, typer);
  if (tool === "takes JSON") return refusedArguments(`arguments: ${packed.typeName}, which is not the message of the tool`);
  if (tool === "itself") {
    if (native.size >= NATIVE) native.clear();
    native.add(key);
    yield* inner.call(request, context);
    return undefined;
  }
  let args: unknown;
  try {
    args = tool.input.codec.decode(packed.bytes, "arguments");
    const checked = tool.fault === undefined ? await tool.input.codec.check(args, "arguments") : {};
    if ("problem" in checked) return refusedArguments(String(checked.problem));
  } catch (error) {
    return refusedArguments(toFault(error).message);
  }
  for await (const reply of inner.call({ ...request, params: { ...params, arguments: args } }, context))
    yield reply.kind === "result" ? { kind: "result", value: answered(reply.value, tool) } : reply;
  return undefined;
}

/** The tool that a message is for. A tool that takes messages itself is called unchanged. */
async function typedAs(
  inner: Service,
  params: JsonObject,
  context: Context,
  typeName: string,
  typer: ToolTyper,
): Promise<ListedTypedTool | "itself" | "takes JSON"> {
  const name = String(params["name"]);
  const known = typer.find(typeName);
  if (known?.name === name && known.input.typeName === typeName) return known;
  // Another process may have listed it, or it was listed long ago.
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
  // Two members with these names may be ordinary arguments.
  return isMessage(params["arguments"]) ? "takes JSON" : "itself";
}

/** A result with its structured content as a message, before its other content. */
function answered(result: JsonObject, { output }: ListedTypedTool): JsonObject {
  const { structuredContent, ...rest } = result;
  if (output === undefined || structuredContent === undefined || result["isError"] === true) return result;
  let bytes: Uint8Array;
  try {
    bytes = output.codec.encode(structuredContent, "structuredContent");
  } catch {
    // If a server violates its own schema, its result is passed on unchanged.
    return result;
  }
  const content = Array.isArray(rest["content"]) ? (rest["content"] as unknown[]) : [];
  const resource = {
    uri: `${MESSAGE_URI}${TYPE_PREFIX}${output.typeName}`,
    mimeType: MESSAGE_MIME_TYPE,
    blob: Buffer.from(bytes).toString("base64"),
  };
  return { ...rest, content: [{ type: "resource", resource }, ...content] };
}

/** A result that says why nothing ran. */
export function refusedArguments(why: string): JsonObject {
  const message = `${INVALID_ARGUMENTS}${why}`;
  return { content: [{ type: "text", text: message }], isError: true, _meta: { [TOOL_ERROR]: { code: VALIDATION_FAILED, message } } };
}

/** Arguments that are a message, as an Any in JSON. */
function packedIn(args: unknown): Packed | undefined {
  if (!isTyped(args)) return undefined;
  const url = args["@type"];
  return { typeName: url.slice(url.lastIndexOf("/") + 1), bytes: octetsOf(args.value) ?? new Uint8Array() };
}

function metaOf({ _meta }: JsonObject): JsonObject {
  return isObject(_meta) ? _meta : {};
}
