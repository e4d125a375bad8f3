import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { schemaLimits } from "../core/index.js";
import type { SchemaFaultOptions } from "./fault.js";

/** The messages within the messages of a descriptor set, by field number. Of the others the fields are counted. */
const inner: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  answer: { 1: "set" },
  set: { 1: "file" },
  file: { 4: "message", 5: "enum", 6: "service", 7: "field", 8: "other", 9: "info" },
  message: { 2: "field", 3: "message", 4: "enum", 5: "other", 6: "field", 7: "other", 8: "oneof", 9: "other" },
  field: { 8: "other" },
  oneof: { 2: "other" },
  enum: { 2: "value", 3: "other", 4: "other" },
  value: { 3: "other" },
  service: { 2: "method", 3: "other" },
  method: { 4: "other" },
  info: { 1: "other" },
  other: { 999: "other" },
};

/** What a message weighs more than another field, in memory. */
const MESSAGE = 8;

/** Descriptors, or an answer with them, are over a limit. */
export class TooHeavy extends Error {
  readonly limit: keyof typeof schemaLimits;

  constructor(message: string, { limit }: Pick<TooHeavy, "limit">) {
    super(message);
    this.limit = limit;
  }
}

/** The limit that an error or one of its causes names. */
export function limitOf(error: unknown): Pick<SchemaFaultOptions, "limit"> {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof TooHeavy) return { limit: cause.limit };
  return {};
}

/**
 * Throws an Error for a descriptor set that has few bytes and takes much memory, before it is read. In an `answer` the set is field 1.
 */
export function weighDescriptors(bytes: Uint8Array, kind: "set" | "answer" = "set"): void {
  const reader = new BinaryReader(bytes);
  let left: number = schemaLimits.descriptorWeight;
  const walk = (of: string, end: number, depth = 0): void => {
    if (depth > schemaLimits.descriptorDepth) throw new TooHeavy("its messages are nested too deep", { limit: "descriptorDepth" });
    while (reader.pos < end) {
      const [number, wire] = reader.tag();
      const within = wire === WireType.LengthDelimited ? inner[of]?.[number] : undefined;
      left -= within === undefined ? 1 : MESSAGE;
      if (left < 0) throw new TooHeavy("it has too many messages and fields", { limit: "descriptorWeight" });
      if (within === undefined) reader.skip(wire, number);
      else walk(within, Math.min(end, reader.uint32() + reader.pos), depth + 1);
    }
  };
  walk(kind, reader.len);
}
