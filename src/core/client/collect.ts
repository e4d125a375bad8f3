import { concat, encodeBase64 } from "../../stream/index.js";
import { weightOf } from "../cached-json.js";
import { Fault } from "../fault.js";
import { extended, isObject, type JsonObject, weigh } from "../json.js";
import { listMembers } from "../methods.js";
import type { ContentReply, PageReply, Reply } from "../service.js";

interface Part {
  readonly content: ContentReply;
  readonly data: (string | Uint8Array)[];
}

/** Joins the items and contents of one call into one result. `limit` is in bytes. */
export class Collected {
  readonly #member: string | undefined;
  readonly #limit: number;
  readonly #items: JsonObject[] = [];
  readonly #parts: Part[] = [];
  #bytes = 0;

  constructor(method: string, limit: number) {
    this.#member = listMembers.get(method);
    this.#limit = limit;
  }

  /** Takes a reply that is a part of the result. */
  add(reply: Reply): void {
    switch (reply.kind) {
      case "item":
        this.#count(reply.weight ?? weightOf(reply.value));
        this.#items.push(reply.value);
        break;
      case "content":
        this.#count(weigh(reply.head));
        this.#parts.push({ content: reply, data: [] });
        break;
      case "chunk": {
        this.#count(reply.data.length);
        const part = this.#parts.at(-1);
        if (part === undefined) throw new Fault("invalid-request", "the server sent a chunk before its content");
        part.data.push(reply.data);
        break;
      }
      default:
    }
  }

  /** The page that ended, as its server made it. */
  page({ cursor, rest }: PageReply): JsonObject {
    return extended(this.whole(rest), { nextCursor: cursor });
  }

  /** The whole result. What came in the result itself follows what came in parts. */
  whole(value: JsonObject): JsonObject {
    const member = this.#member ?? (this.#items.length > 0 ? "items" : undefined);
    if (member !== undefined) return extended(value, { [member]: join(this.#items, value[member]) });
    return extended(value, { contents: join(this.#parts.map(contentOf), wholeContents(value)) });
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#limit)
      throw new Fault("overload", `the result is larger than ${this.#limit} bytes; read it as a stream`, {
        data: { limit: "collectBytes" },
      });
  }
}

/** The contents in a read's result; none if they came in parts. */
export function wholeContents(result: JsonObject): readonly JsonObject[] {
  const { contents = [] } = result;
  if (!Array.isArray(contents) || !contents.every(isObject))
    throw new Fault("invalid-request", "the server's contents are not an array of objects");
  return contents;
}

function join(parts: readonly JsonObject[], whole: unknown): readonly unknown[] {
  if (!Array.isArray(whole)) return parts;
  return parts.length === 0 ? whole : [...parts, ...whole];
}

function contentOf({ content, data }: Part): JsonObject {
  switch (content.form) {
    case "none":
      return content.head;
    case "text":
      return { ...content.head, text: data.join("") };
    case "blob":
      return { ...content.head, blob: encodeBase64(concat(data.filter((piece) => typeof piece !== "string"))) };
  }
}
