import { isObject, type JsonObject, jsonText } from "../../core/index.js";
import { encodeBase64 } from "../../stream/index.js";
import { isTyped, octetsOf } from "../protobuf/index.js";

/** The prefix of the `uri` of an embedded resource that holds a protobuf message. The type URL follows. */
export const MESSAGE_URI = "proto:";
export const MESSAGE_MIME_TYPE = "application/x-protobuf";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** The members of a ToolContent that exclude each other. */
const forms: readonly string[] = ["text", "image", "data", "block"];

/** Content blocks as `ToolContent`s. Any other value is returned unchanged. */
export function blocksToWire(content: unknown, full: boolean): unknown {
  return Array.isArray(content) && content.every(isObject) ? content.map((block) => blockToWire(block, full)) : content;
}

export function blocksFromWire(content: unknown, full: boolean): unknown {
  return Array.isArray(content) && content.every(isObject) ? content.map((block) => blockFromWire(block, full)) : content;
}

/** A content block as a ToolContent. `full`: the peer knows more than the base. */
export function blockToWire(block: JsonObject, full: boolean): JsonObject {
  const packed = block["type"] === "resource" ? packedIn(block) : undefined;
  if (packed !== undefined) return { data: packed };
  const { type, ...rest } = block;
  if (type === "text" && typeof rest["text"] === "string" && forms.every((form) => form === "text" || !(form in rest))) return rest;
  if (type === "image" && typeof rest["data"] === "string" && !("text" in rest || "image" in rest || "block" in rest)) {
    const { data, ...others } = rest;
    const bytes = octetsOf(data as string);
    if (bytes !== undefined) return { image: full ? bytes : encoder.encode(data as string), ...others };
  }
  return full ? { block } : { data: block };
}

/** A ToolContent as a content block. */
export function blockFromWire(content: JsonObject, full: boolean): JsonObject {
  const { block } = content;
  if (isObject(block)) return block;
  if (isTyped(content["data"])) return messageBlock(content["data"]["@type"], content["data"].value);
  const { text, image, data, block: _, ...rest } = content;
  if (image instanceof Uint8Array) return { type: "image", data: full ? encodeBase64(image) : base64In(image), ...rest };
  if (isObject(data)) return typeof data["type"] === "string" ? data : { type: "text", text: jsonText(data) };
  return { type: "text", text: text ?? "", ...rest };
}

/** A content block that holds a message of protobuf, in base64. */
export function messageBlock(url: string, value: string): JsonObject {
  return { type: "resource", resource: { uri: `${MESSAGE_URI}${url}`, mimeType: MESSAGE_MIME_TYPE, blob: value } };
}

function hasMore(object: JsonObject, members: number): boolean {
  let count = 0;
  for (const _ in object) if (++count > members) return true;
  return false;
}

/** The message of protobuf that a content block holds, as an Any in JSON; undefined if it is another block. */
export function packedIn(block: JsonObject): JsonObject | undefined {
  const { type, resource } = block;
  if (type !== "resource" || !isObject(resource) || hasMore(block, 2)) return undefined;
  const { uri, mimeType, blob } = resource;
  if (typeof uri !== "string" || !uri.startsWith(MESSAGE_URI) || mimeType !== MESSAGE_MIME_TYPE || hasMore(resource, 3)) return undefined;
  const any = { "@type": uri.slice(MESSAGE_URI.length), value: blob };
  return isTyped(any) ? any : undefined;
}

/** The image of a base peer as base64: its specification says base64, but some send the bytes themselves. */
function base64In(image: Uint8Array): string {
  try {
    const text = decoder.decode(image);
    return octetsOf(text) === undefined ? encodeBase64(image) : text;
  } catch {
    return encodeBase64(image);
  }
}
