import type { AnswerPart } from "../codec/index.js";
import { weigh } from "../core/index.js";
import { utf8Length } from "../stream/index.js";

/** Bytes of a chunk; text counts as UTF-8. */
export function dataSize(data: string | Uint8Array): number {
  return typeof data === "string" ? utf8Length(data) : data.byteLength;
}

/** The weight of a part against the credit of its call. Both ends use it. */
export function weighPart(part: AnswerPart): number {
  switch (part.kind) {
    case "item":
      return weigh(part.value);
    case "page":
      return weigh(part.rest) + part.cursor.length;
    case "content":
      return weigh(part.head);
    default:
      return part.data.length;
  }
}
