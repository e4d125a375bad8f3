import {
  type AnswerPart,
  type Id,
  isId,
  type Line,
  type LongLine,
  type LongLines,
  namedCall,
  type Outgoing,
  parseMessage,
  type Scanner,
  scanner,
  WHOLE_BYTES,
} from "../codec/index.js";
import { Fault, toFault } from "../core/index.js";

/** Bytes that are scanned at a time, so that no part is larger. */
const SLICE = 64 * 1024;

export interface LongReadsOptions {
  readonly maxBytes: number;
  readonly depth: number;
}

/** Reads the answers to `resources/read` from lines that are too long to be held, content by content, as they arrive. */
export class LongReads implements LongLines {
  readonly bytes: number;
  readonly #options: LongReadsOptions;
  /** Reads that wait for their answers. */
  readonly #open = new Set<Id>();
  /** The read whose answer is being read. */
  #active: Id | undefined;
  #held = false;

  constructor(options: LongReadsOptions) {
    this.#options = options;
    this.bytes = Math.min(WHOLE_BYTES, options.maxBytes);
  }

  /** Whether the stream has to wait for the reader of the current line. */
  get paused(): boolean {
    return this.#held && this.#active !== undefined;
  }

  /** Notes what is sent: reads, and their cancellations. True if the stream no longer has to wait for anybody. */
  sent(message: Outgoing): boolean {
    if (!("method" in message)) return false;
    if (message.method === "resources/read" && "id" in message) this.#open.add(message.id);
    if (message.method !== "notifications/cancelled") return false;
    const { paused } = this;
    const call = namedCall(message.params);
    if (call !== undefined) this.answered(call);
    return paused && !this.paused;
  }

  /** Notes that nobody waits for an answer any more. */
  answered(id: Id): void {
    this.#open.delete(id);
    if (this.#active === id) this.#active = undefined;
  }

  get any(): boolean {
    return this.#open.size > 0;
  }

  /** The reader of a call has fallen behind (`held`), or has caught up. */
  pace(id: Id, held: boolean): void {
    if (this.#active === id) this.#held = held;
  }

  begin(bytes: Uint8Array): LongLine | undefined {
    const id = this.#whose(bytes);
    if (id === undefined) return undefined;
    const { maxBytes, depth } = this.#options;
    const scanned = scanner({ maxBytes, depth });
    const first: AnswerPart[] = [];
    // A line of another shape is held whole, up to the limit of a line.
    try {
      for (let at = 0; at < bytes.byteLength; at += SLICE) first.push(...scanned.push(bytes.subarray(at, at + SLICE)));
    } catch {
      return undefined;
    }
    this.#active = id;
    this.#held = false;
    return this.#line(id, scanned, first);
  }

  #line(id: Id, scanned: Scanner, first: readonly AnswerPart[]): LongLine {
    const { depth } = this.#options;
    let found: readonly AnswerPart[] | undefined = first;
    let broken: Fault | undefined;
    const finish = (): Line => {
      if (broken !== undefined) return { fault: broken, whose: { answers: id } };
      const message = parseMessage(new TextDecoder().decode(scanned.finish()), { depth });
      if (message.kind !== "result" || message.id !== id)
        return { fault: new Fault("invalid-request", "the server answered a read with the message of another"), whose: { answers: id } };
      const { contents, ...value } = message.value;
      return { message: { ...message, value } };
    };
    return {
      push: (bytes) => {
        // If nobody waits for the rest, it is dropped.
        if (broken !== undefined || this.#active !== id) return [];
        try {
          const parts = found ?? scanned.push(bytes);
          found = undefined;
          return parts.map((part) => ({ message: { kind: "part", id, part } }));
        } catch (error) {
          broken = toFault(error);
          return [];
        }
      },
      end: () => {
        if (this.#active !== id) return [];
        this.#active = undefined;
        try {
          return [finish()];
        } catch (error) {
          return [{ fault: toFault(error), whose: { answers: id } }];
        }
      },
    };
  }

  /** The read that a line answers: the one it names, or the only open one, because many servers write the id at the end. */
  #whose(bytes: Uint8Array): Id | undefined {
    const named = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)/.exec(
      new TextDecoder().decode(bytes.subarray(0, 1024)),
    );
    if (named === null) return this.#open.size === 1 ? [...this.#open][0] : undefined;
    const id: unknown = JSON.parse(named[1] ?? "null");
    return isId(id) && this.#open.has(id) ? id : undefined;
  }
}
