import { isObject, type JsonObject, noParams, type RpcError } from "../../core/index.js";
import { nullParams, whole } from "../members.js";
import { bytesOf, type DecodeLimits, defaultDecodeLimits, malformed, Reader, readJsonField } from "../protobuf/index.js";
import { errorOf, writeGeneric } from "./frame.js";
import { GENERIC } from "./session-tables.js";

const TAG = GENERIC * 8 + 2;

/** A message of an RPC's answer between Anywire ends that has only `notification` set. */
export type Note =
  | { readonly method: string; readonly params: JsonObject }
  /** The error with which the call is about to end, if its status has no room for all of it. */
  | { readonly error: RpcError };

export function encodeNote(method: string, params: JsonObject): Uint8Array {
  return bytesOf((writer) => {
    // A name that UTF-8 cannot hold is not a method.
    if (writeGeneric(writer, { ...whole({ jsonrpc: "2.0", method, params }), notification: true }) !== undefined)
      throw malformed("the method is no text");
  });
}

export function encodeErrorNote(error: RpcError): Uint8Array {
  return bytesOf((writer) => {
    writeGeneric(writer, { error });
  });
}

/** The notification or error in a message of an answer; undefined if it is neither. */
export function decodeNote(bytes: Uint8Array, limits: DecodeLimits = defaultDecodeLimits): Note | undefined {
  // The tag of the field. It is first, and the only one.
  if (bytes[0] !== ((TAG & 0x7f) | 0x80) || bytes[1] !== TAG >> 7) return undefined;
  const reader = new Reader(bytes);
  reader.tag();
  reader.end = reader.limit();
  let method = "";
  let params: JsonObject = noParams;
  let error: RpcError | undefined;
  while (reader.at < reader.end) {
    const tag = reader.tag();
    if (tag === 0x0a) method = reader.text();
    else if (tag === 0x12) {
      const read = readJsonField(reader, limits.depth - 1);
      if (isObject(read)) params = read;
      else if (read === null) params = nullParams;
    } else if (tag === 0x22) error = errorOf(readJsonField(reader, limits.depth - 1));
    else reader.skip(tag);
  }
  return error === undefined ? { method, params } : { error };
}
