import type { DescMessage } from "@bufbuild/protobuf";
import { type Checked, jsonSchemaCheck, toFault } from "../../core/index.js";
import type { ConvertedSchema } from "../convert/tool.js";
import { badSchema } from "../fault.js";
import { decodeValue } from "./decode.js";
import { checkable, withDoubles } from "./doubles.js";
import { encodeValue } from "./encode.js";
import { Plans } from "./plan.js";

/** Converts JSON values to the bytes of a message, and back. `path` names the value in a Fault. */
export interface ValueCodec {
  readonly message: DescMessage;
  encode(value: unknown, path?: string): Uint8Array;
  decode(bytes: Uint8Array, path?: string): unknown;
  /**
   * Checks a value against the whole JSON Schema that the message was made from. Without one, every value that can be encoded is valid.
   */
  check(value: unknown, path?: string): Promise<Checked>;
}

/** The codec of a converted schema. */
export function schemaCodec(converted: ConvertedSchema): ValueCodec {
  const plans = new Plans(converted.notes);
  const check = jsonSchemaCheck(checkable(converted.schema));
  return {
    get message() {
      return converted.message;
    },
    encode: (value, path = "value") => encodeValue(converted.wrapped ? { value } : value, converted.message, plans, path),
    decode: (bytes, path = "value") => {
      const value = decodeValue(bytes, converted.message, plans, path);
      return converted.wrapped ? (value as { readonly value: unknown }).value : value;
    },
    check: async (value, path = "value") => {
      let checked: Checked;
      try {
        checked = await check(withDoubles(value), path);
      } catch (error) {
        throw badSchema(`cannot be enforced: ${toFault(error).message}`, "", { cause: error });
      }
      return "problem" in checked ? checked : { value };
    },
  };
}

/**
 * The codec of a native protobuf message, or of one whose schema is not available. null then counts as absent where a field cannot hold it.
 */
export function messageCodec(message: DescMessage): ValueCodec {
  const plans = new Plans();
  return {
    message,
    encode: (value, path = "value") => encodeValue(value, message, plans, path),
    decode: (bytes, path = "value") => decodeValue(bytes, message, plans, path),
    check: (value, path = "value") => {
      try {
        encodeValue(value, message, plans, path);
        return Promise.resolve({ value });
      } catch (error) {
        return Promise.resolve({ problem: (error as Error).message });
      }
    },
  };
}
