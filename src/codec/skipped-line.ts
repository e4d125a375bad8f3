import { Fault } from "../core/index.js";
import { concat } from "../stream/index.js";
import type { IncomingBad } from "./jsonrpc.js";
import type { BadLine, LongLine } from "./lines.js";

/** Bytes at the start and the end of a line in which the id of its message is searched. */
const ENDS = 4 * 1024;

/** A line longer than this many messages counts as endless: whoever waits behind it would wait for ever. */
const MOST = 16;

/** Reads a line that is longer than a message may be. Only what may show whom it belongs to is kept. Throws a Fault if it does not end. */
export function skippedLine(maxBytes: number): LongLine {
  const fault = new Fault("overload", "the line is too long", { data: { limit: "messageBytes", max: maxBytes } });
  let skipped = 0;
  let head: Uint8Array = new Uint8Array(0);
  let tail: Uint8Array = new Uint8Array(0);
  return {
    push(bytes) {
      skipped += bytes.byteLength;
      if (skipped > MOST * maxBytes) throw fault;
      if (head.byteLength < ENDS) head = concat([head, bytes.slice(0, ENDS - head.byteLength)]);
      tail = bytes.byteLength >= ENDS ? bytes.slice(-ENDS) : concat([tail, bytes]).slice(-ENDS);
      return [];
    },
    end(): [BadLine] {
      const text = new TextDecoder();
      return [{ fault, whose: ownerByEnds(text.decode(head), text.decode(tail)) }];
    },
  };
}

const member = /\s*"([^"\\]*)"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+|true|false|null)?/y;
const separator = /\s*,/y;
/** The line ends with the message itself, so what stands right before that is a member of the message. */
const last = /,\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;

/** Whom a message belongs to, by the members before its first long one and those after its last. */
function ownerByEnds(head: string, tail: string): Pick<IncomingBad, "id" | "answers"> {
  const found = new Map<string, string | undefined>();
  for (let at = head.indexOf("{") + 1; at > 0; ) {
    member.lastIndex = at;
    const match = member.exec(head);
    if (match === null) break;
    found.set(match[1] ?? "", match[2]);
    separator.lastIndex = member.lastIndex;
    at = match[2] !== undefined && separator.test(head) ? separator.lastIndex : 0;
  }
  const id = idOf(found.get("id") ?? last.exec(tail)?.[1]);
  if (id === undefined) return {};
  if (found.has("method") || found.has("params")) return { id };
  return found.has("result") || found.has("error") ? { answers: id } : { id, answers: id };
}

function idOf(text: string | undefined): string | number | undefined {
  const id: unknown = text === undefined ? undefined : JSON.parse(text);
  return typeof id === "string" || (typeof id === "number" && Number.isSafeInteger(id)) ? id : undefined;
}
