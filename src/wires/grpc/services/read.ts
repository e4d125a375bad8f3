import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { Fault } from "../../../core/index.js";
import type { ServerCall } from "../../../io/index.js";

/** Decodes a message of a call. Throws a fault if that fails. */
export function read<Desc extends DescMessage>(schema: Desc, bytes: Uint8Array): MessageShape<Desc> {
  try {
    // Nobody uses unknown fields, and two bytes of them would take a hundred times as much memory.
    return fromBinary(schema, bytes, { readUnknownFields: false });
  } catch (cause) {
    throw new Fault("parse", `the message is no ${schema.typeName}`, { cause });
  }
}

/** The one message of a unary call. */
export async function readOnly<Desc extends DescMessage>(schema: Desc, call: ServerCall): Promise<MessageShape<Desc>> {
  for await (const [first] of call.messages) if (first !== undefined) return read(schema, first);
  throw new Fault("invalid-request", "the call came without its message");
}
