import { type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import { at, exact, stringAt, textOf } from "../json.js";
import { frames } from "./grpc-frames.js";
import type { Plain } from "./proto.js";

export const SERVICE = "/mcp.v1.McpService/";

export const coder = (desc: DescMessage): { write(message: Plain): Buffer; read(bytes: Buffer): Plain } => ({
  write: (message) => Buffer.from(toBinary(desc, message as never)),
  read: (bytes) => fromBinary(desc, bytes) as unknown as Plain,
});

export const up = coder(frames.toServer);
export const down = coder(frames.toClient);

/** Says that twins are understood, as a peer that knows all of docs/mapping does. */
export function twins(): grpc.Metadata {
  const metadata = new grpc.Metadata();
  metadata.set("anywire-twins", "1");
  return metadata;
}

/** Remembers which method a request of that id has. */
export class Asked {
  readonly #methods = new Map<string, string>();

  note(text: string): void {
    const message = exact(text);
    const id = at(message, "id");
    const method = stringAt(message, "method");
    if (id !== undefined && method !== undefined) this.#methods.set(textOf(id), method);
  }

  readonly of = (id: string): string | undefined => this.#methods.get(id);
}
