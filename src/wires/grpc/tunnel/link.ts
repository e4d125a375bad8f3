import { type Incoming, parseMessage, serialise } from "../../../codec/index.js";
import { Fault, type Limits } from "../../../core/index.js";
import { hasRoom, type Link, sharedStream } from "../../../era/index.js";
import type { Messages } from "../../../io/index.js";

/** One direction each of a stream of `JsonRpcMessage`. */
export interface TunnelStream {
  readonly messages: Messages;
  readonly backlog: number;
  send(message: Uint8Array): Promise<void> | undefined;
}

/** JSON-RPC messages, each as the one field of a protobuf message. `close` ends this side. */
export function tunnelLink(stream: TunnelStream, limits: Limits, close: (reason?: Fault) => void): Link {
  let closed: Fault | undefined;
  return {
    ...sharedStream,
    incoming: received(stream.messages, limits),
    get backlog() {
      return stream.backlog;
    },
    send(message) {
      if (closed !== undefined) return Promise.reject(closed);
      try {
        return stream.send(wrap(serialise(message))) ?? hasRoom;
      } catch (error) {
        return Promise.reject(error);
      }
    },
    close(reason) {
      if (closed === undefined) {
        closed = reason ?? new Fault("unavailable", "the link was closed", { data: { reason: "closed" } });
        close(reason);
      }
      return hasRoom;
    },
  };
}

async function* received(messages: Messages, { depth }: Limits): AsyncGenerator<readonly Incoming[]> {
  for await (const batch of messages) yield batch.map((bytes) => parseMessage(unwrap(bytes), { depth }));
}

const FIELD = 0x0a;
const encoder = new TextEncoder();

/** The bytes of a `JsonRpcMessage`: a tag, a length, the text. */
export function wrap(text: string): Uint8Array {
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

/** The text in a `JsonRpcMessage`. Fields that it does not know are an error: nobody sends any. */
export function unwrap(message: Uint8Array): string {
  let length = 0;
  let at = 1;
  for (let factor = 1; at < message.byteLength; factor *= 128) {
    const byte = message[at++] as number;
    length += (byte & 0x7f) * factor;
    if (byte < 0x80) break;
    if (at > 8) throw bad();
  }
  if (message[0] !== FIELD || length !== message.byteLength - at) throw bad();
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(message.subarray(at));
  } catch (cause) {
    throw new Fault("parse", "the message is no UTF-8", { cause });
  }
}

function bad(): Fault {
  return new Fault("parse", "the message is no JsonRpcMessage");
}
