import type { MessageCodec } from "../../codec/bufmcpv1/index.js";
import { type LinkMessage, lineFramer, parseLine, serialise } from "../../codec/index.js";
import { Fault, messageTooLarge } from "../../core/index.js";
import type { FrameReader, Framing, OnPartial } from "../../io/index.js";

const PREFIX = 4;
/** Smaller pieces of a message are copied together: a view of a few bytes costs more than they do. */
const SMALL = 8 * 1024;
const nothing = new Uint8Array(0);
const encoder = new TextEncoder();

export interface FramingOptions {
  readonly onPartial?: OnPartial | undefined;
}

/** Frames each message as its length in four bytes, highest first, and an `MCPMessage`. */
export function delimited(codec: MessageCodec, { onPartial }: FramingOptions = {}): Framing {
  return {
    write(message) {
      const framed = codec.encode(message, PREFIX);
      if (framed === undefined) return nothing;
      const length = framed.length - PREFIX;
      framed[0] = length >>> 24;
      framed[1] = length >>> 16;
      framed[2] = length >>> 8;
      framed[3] = length;
      return framed;
    },
    reader: ({ maxBytes }) => new DelimitedReader(codec, maxBytes, onPartial),
  };
}

class DelimitedReader implements FrameReader {
  readonly #codec: MessageCodec;
  readonly #maxBytes: number;
  readonly #onPartial: OnPartial | undefined;
  /** The beginning of a message, in the pieces that arrived. */
  #pieces: Uint8Array[] = [];
  #held = 0;
  /** The length that its prefix says; undefined until that is there. */
  #claimed: number | undefined;
  #broken: Fault | undefined;

  constructor(codec: MessageCodec, maxBytes: number, onPartial: OnPartial | undefined) {
    this.#codec = codec;
    this.#maxBytes = maxBytes;
    this.#onPartial = onPartial;
  }

  push(bytes: Uint8Array): readonly LinkMessage[] {
    if (this.#broken !== undefined) throw this.#broken;
    const messages: LinkMessage[] = [];
    let anew = false;
    try {
      anew = this.#read(bytes, messages);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      this.#broken = error;
      this.#pieces = [];
      this.#held = 0;
      if (messages.length === 0) throw error;
    }
    this.#onPartial?.(this.#held, anew);
    return messages;
  }

  end(): readonly LinkMessage[] {
    if (this.#broken !== undefined) throw this.#broken;
    if (this.#held > 0)
      throw new Fault("parse", `the stream ended inside a message, after ${this.#held} of ${PREFIX + (this.#claimed ?? 0)} bytes`);
    return [];
  }

  /** Returns whether a message was completed. */
  #read(bytes: Uint8Array, messages: LinkMessage[]): boolean {
    let at = 0;
    let completed = false;
    for (;;) {
      const missing = PREFIX + (this.#claimed ?? 0) - this.#held;
      if (bytes.length - at < missing) break;
      // Most messages come whole, and are read where they are.
      const here = this.#held === 0;
      const whole = here ? bytes : Buffer.concat([...this.#pieces, bytes.subarray(at, at + missing)]);
      const from = here ? at : 0;
      if (this.#claimed === undefined) {
        this.#claimed = this.#length(whole, from);
        if (here) continue;
        this.#pieces = [whole];
        this.#held = PREFIX;
        at += missing;
        continue;
      }
      at += missing;
      completed = true;
      this.#claimed = undefined;
      this.#pieces = [];
      this.#held = 0;
      for (const message of this.#codec.decode(whole.subarray(from + PREFIX, here ? at : undefined))) messages.push(message);
    }
    if (at < bytes.length) this.#keep(bytes.subarray(at));
    return completed;
  }

  /** The length that a message claims. Nothing is held for one that is too large: it is refused before its bytes come. */
  #length(bytes: Uint8Array, at: number): number {
    const length =
      (bytes[at] as number) * 2 ** 24 + (((bytes[at + 1] as number) << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number));
    if (length > this.#maxBytes) throw messageTooLarge(this.#maxBytes);
    return length;
  }

  #keep(bytes: Uint8Array): void {
    this.#held += bytes.length;
    const last = this.#pieces.at(-1);
    if (last !== undefined && last.length + bytes.length <= SMALL) this.#pieces[this.#pieces.length - 1] = Buffer.concat([last, bytes]);
    else this.#pieces.push(bytes);
  }
}

const WHITE = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Whether a stream that begins with this byte has lines of JSON. */
export function isJson(first: number | undefined): boolean {
  return first === 0x7b || first === 0x5b || (first !== undefined && WHITE.has(first));
}

/** Both protocols on one stream: the peer's first byte decides which is used in both directions. */
export function either(codec: MessageCodec): Framing {
  const proto = delimited(codec);
  let json = false;
  return {
    write: (message) => (json ? encoder.encode(`${serialise(message)}\n`) : proto.write(message)),
    reader(limits) {
      let chosen: FrameReader | undefined;
      return {
        push(bytes) {
          if (chosen === undefined && bytes.length > 0) {
            json = isJson(bytes[0]);
            chosen = json ? jsonLines(limits) : proto.reader(limits);
          }
          return chosen?.push(bytes) ?? [];
        },
        end: () => chosen?.end() ?? [],
      };
    },
  };
}

function jsonLines({ maxBytes, depth }: { readonly maxBytes: number; readonly depth: number }): FrameReader {
  const framer = lineFramer({ maxBytes });
  return {
    push: (bytes) => framer.push(bytes).map((line) => parseLine(line, { depth })),
    end: () => framer.end().map((line) => parseLine(line, { depth })),
  };
}
