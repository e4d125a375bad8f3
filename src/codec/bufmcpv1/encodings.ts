import { Fault } from "../../core/index.js";
import type { LinkMessage } from "../jsonrpc.js";
import type { ProtoJson } from "./proto-json.js";

/** Names of the encodings of an MCPMessage. */
export type ProtoEncoding = "protobuf" | "json";
/** Those that are spoken here, what is liked best first. */
export const ENCODINGS: readonly ProtoEncoding[] = ["protobuf", "json"];

const BRACE = 0x7b;

/** No message of protobuf begins with a brace: that would be a group. */
export function isProtoJson(bytes: Uint8Array): boolean {
  return bytes[0] === BRACE;
}

class UnreadJson {
  readonly text: Uint8Array;
  constructor(text: Uint8Array) {
    this.text = text;
  }
}

/** The fault of a message in proto JSON where nobody reads that. */
export function unreadJson(text: Uint8Array): Fault {
  return new Fault("parse", "the message is JSON, and only protobuf is read here", { cause: new UnreadJson(text) });
}

/** The text of a message that is proto JSON and was not read yet; undefined of any other. */
export function protoJsonIn(message: LinkMessage): Uint8Array | undefined {
  return message.kind === "bad" && message.fault.cause instanceof UnreadJson ? message.fault.cause.text : undefined;
}

/** What reads and writes proto JSON. It needs the descriptors of all messages, so it is loaded only where a peer wants it. */
export async function loadProtoJson(): Promise<ProtoJson> {
  return (await import("./proto-json.js")).protoJson;
}
