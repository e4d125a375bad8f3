import { bytesOf, Reader } from "../protobuf/index.js";
import { readEnvelope } from "./envelope.js";

/** The payload of an MCPMessage, which is the message of a unary RPC. */
export interface UnaryPayload {
  readonly number: number;
  readonly bytes: Uint8Array;
}

export function payloadIn(message: Uint8Array): UnaryPayload {
  const { payload, from, to } = readEnvelope(new Reader(message), 1);
  return { number: payload, bytes: message.subarray(from, to) };
}

/** Wraps the message of a unary RPC in an MCPMessage. */
export function withPayload(id: number, { number, bytes }: UnaryPayload): Uint8Array {
  return bytesOf((writer) => {
    writer.varint(0x08);
    writer.varint(id);
    writer.varint(number * 8 + 2);
    writer.octets(bytes);
  });
}
