import { parseMessage, serialise } from "../../../codec/index.js";
import { Reader } from "../../../codec/protobuf/index.js";
import { Fault, type Limits } from "../../../core/index.js";
import { SERVICE } from "../names.js";
import type { StreamCodec } from "../stream-link.js";

/** JSON-RPC messages, each in the one field of a `JsonRpcMessage`. */
export function tunnelCodec({ depth }: Pick<Limits, "depth">): StreamCodec {
  return {
    encode: (message) => tunnelMessage(serialise(message)),
    decode: (bytes) => [parseMessage(unwrap(bytes), { depth })],
  };
}

const FIELD = 0x0a;
const encoder = new TextEncoder();

/** The bytes of a `JsonRpcMessage`: a tag, a length, the text. */
export function tunnelMessage(text: string): Uint8Array {
  const json = encoder.encode(text);
  const head = [FIELD];
  let length = json.byteLength;
  for (; length > 0x7f; length = Math.floor(length / 128)) head.push((length % 128) | 0x80);
  head.push(length);
  const message = new Uint8Array(head.length + json.byteLength);
  message.set(head);
  message.set(json, head.length);
  return message;
}

/** The text in the first field of a message. Other implementations may add more fields. */
export function unwrap(message: Uint8Array): string {
  let length = 0;
  let at = 1;
  for (let factor = 1; at < message.byteLength; factor *= 128) {
    const byte = message[at++] ?? 0;
    length += (byte & 0x7f) * factor;
    if (byte < 0x80) break;
    if (at > 8) break;
  }
  if (message[0] !== FIELD || length !== message.byteLength - at) return firstField(message);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(message.subarray(at));
  } catch (cause) {
    throw new Fault("parse", "the message is not UTF-8", { cause });
  }
}

/** The slow path, for messages with more than that field. */
function firstField(message: Uint8Array): string {
  const reader = new Reader(message);
  let text: string | undefined;
  while (reader.at < reader.end) {
    const tag = reader.tag();
    if (tag === FIELD) text = reader.text();
    else reader.skip(tag);
  }
  if (text === undefined) throw new Fault("parse", "field 1 of the message, which is to hold the JSON, is missing");
  return text;
}

/** Throws if the path cannot belong to a tunnel. */
export function checkTunnelPath(path: string): void {
  if (/^\/[\w.]+\/\w+$/.test(path) && !path.startsWith(SERVICE) && !path.startsWith("/grpc.")) return;
  throw new Fault("invalid-params", `not the path of a tunnel: ${path}; it looks like /package.Service/Method, and is of no other service`);
}
