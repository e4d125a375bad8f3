import type { JsonObject } from "../../core/index.js";
import { readMessage } from "./decode.js";
import { type EncodeOptions, writeMessage } from "./encode.js";
import { borrow, giveBack } from "./pool.js";
import { Reader } from "./reader.js";
import type { Table } from "./table.js";
import type { Writer } from "./writer.js";

/** The bytes that `write` writes, behind room for so many others. */
export function bytesOf(write: (writer: Writer) => void, room = 0): Uint8Array {
  const writer = borrow();
  try {
    writer.room(room);
    writer.at += room;
    write(writer);
    return writer.finish();
  } finally {
    giveBack(writer);
  }
}

/** The bytes of one message. */
export function encodeAs(table: Table, value: JsonObject, options: EncodeOptions): Uint8Array {
  return bytesOf((writer) => writeMessage(writer, table, value, options));
}

/** The object that the bytes of one message stand for. `depth`: how many levels its members may have. */
export function decodeAs(table: Table, bytes: Uint8Array, depth: number): JsonObject {
  return readMessage(new Reader(bytes), table, depth);
}
