import { utf8Length } from "../stream/index.js";

/** Octets of a chunk, of text as UTF-8. */
export function sizeOf(data: string | Uint8Array): number {
  return typeof data === "string" ? utf8Length(data) : data.byteLength;
}
