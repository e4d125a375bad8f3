import { type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { isTyped, octetsOf } from "../codec/protobuf/index.js";
import { type JsonObject, toFault } from "../core/index.js";
import { messageCodec, type ValueCodec } from "../schema/index.js";
import { encodeBase64 } from "../stream/index.js";

const PREFIX = "type.googleapis.com/";

/** Thrown if arguments are not a message of the schema. */
export class Unfit extends Error {}

/** One schema: converts its messages to and from JSON, and JSON with a packed Any. */
export class Messages {
  readonly schema: DescMessage;
  readonly #values: ValueCodec;

  constructor(schema: DescMessage) {
    this.schema = schema;
    this.#values = messageCodec(schema);
  }

  /** The message in the arguments, packed or as ordinary JSON. Throws Unfit. */
  read(args: JsonObject): Message {
    const { typeName } = this.schema;
    if (isTyped(args)) {
      const name = args["@type"].slice(args["@type"].lastIndexOf("/") + 1);
      if (name !== typeName) throw new Unfit(`arguments: a ${name}, and the tool takes a ${typeName}`);
      return this.#parsed(octetsOf(args.value) as Uint8Array);
    }
    let bytes: Uint8Array;
    try {
      bytes = this.#values.encode(args, "arguments");
    } catch (error) {
      throw new Unfit(toFault(error).message);
    }
    return this.#parsed(bytes);
  }

  #parsed(bytes: Uint8Array): Message {
    try {
      return fromBinary(this.schema, bytes);
    } catch (error) {
      throw new Unfit(`arguments: no ${this.schema.typeName}: ${(error as Error).message}`);
    }
  }

  /** The message as ordinary JSON. */
  json(message: Message): JsonObject {
    return this.#values.decode(toBinary(this.schema, message)) as JsonObject;
  }

  packed(message: Message): { readonly "@type": string; readonly value: string } {
    return { "@type": `${PREFIX}${this.schema.typeName}`, value: encodeBase64(toBinary(this.schema, message)) };
  }
}
