import { Fault } from "../core/index.js";
import { concat } from "../stream/index.js";
import type { AnswerPart, Id, UnbatchedMessage } from "./jsonrpc.js";
import { type ParseLimits, parseMessage } from "./parse.js";
import { partMessage, readPart } from "./part-message.js";
import { serialise } from "./serialise.js";

/**
 * The stream of an answer in parts: frames of JSON-RPC messages and of bytes, each after its kind (one byte) and its length (four bytes,
 * the highest first). A part that is not bytes is a notification. Bytes are chunks of the content before them.
 */
const [MESSAGE, BYTES] = [0, 1];
const HEAD = 5;

/** The pieces of a frame, to be written in order. */
export function messageFrame(text: string): Uint8Array[] {
  const bytes = new TextEncoder().encode(text);
  return [frameHead(MESSAGE, bytes.byteLength), bytes];
}

/** The same for a part of the answer. */
export function partFrame(part: AnswerPart): Uint8Array[] {
  if (part.kind === "chunk" && typeof part.data !== "string") return [frameHead(BYTES, part.data.byteLength), part.data];
  return messageFrame(serialise(partMessage(part, { bytes: false })));
}

/** An empty frame, which shows that the stream is alive. */
export const emptyFrame: Uint8Array = new Uint8Array(HEAD);

function frameHead(kind: number, length: number): Uint8Array {
  const head = new Uint8Array(HEAD);
  head[0] = kind;
  new DataView(head.buffer).setUint32(1, length);
  return head;
}

export interface PartsReaderOptions extends ParseLimits {
  /** The call that is being answered. */
  readonly id: Id;
  /** Bytes of one message. */
  readonly maxBytes: number;
}

/** Reads the stream of an answer in parts. */
export interface PartsReader {
  /**
   * The messages in these bytes. Bytes of the resource are passed on as they arrive, not copied. Throws a Fault if the stream is invalid.
   */
  push(bytes: Uint8Array): UnbatchedMessage[];
  /** The number of empty frames so far. */
  readonly empty: number;
}

export function partsReader(options: PartsReaderOptions): PartsReader {
  return new FramesReader(options);
}

class FramesReader implements PartsReader {
  readonly #options: PartsReaderOptions;
  readonly #head = new Uint8Array(HEAD);
  empty = 0;
  #filled = 0;
  /** Bytes of the frame that are still to come. */
  #left = 0;
  /** The part of a message that has arrived. */
  #message: Uint8Array[] = [];

  constructor(options: PartsReaderOptions) {
    this.#options = options;
  }

  push(bytes: Uint8Array): UnbatchedMessage[] {
    const found: UnbatchedMessage[] = [];
    for (let at = 0; at < bytes.byteLength; ) {
      if (this.#filled < HEAD) at += this.#begin(bytes, at);
      if (this.#filled < HEAD) break;
      const piece = bytes.subarray(at, at + this.#left);
      at += piece.byteLength;
      this.#left -= piece.byteLength;
      if (this.#head[0] === MESSAGE) this.#message.push(piece);
      else if (piece.byteLength > 0) found.push({ kind: "part", id: this.#options.id, part: { kind: "chunk", data: piece } });
      if (this.#left > 0) break;
      this.#filled = 0;
      if (this.#head[0] === MESSAGE) found.push(...this.#read());
    }
    return found;
  }

  /** Reads what is there of the frame head. Returns the number of bytes read. */
  #begin(bytes: Uint8Array, at: number): number {
    const piece = bytes.subarray(at, at + HEAD - this.#filled);
    this.#head.set(piece, this.#filled);
    this.#filled += piece.byteLength;
    if (this.#filled < HEAD) return piece.byteLength;
    this.#left = new DataView(this.#head.buffer).getUint32(1);
    const [kind] = this.#head;
    if (kind !== MESSAGE && kind !== BYTES) throw new Fault("parse", `the answer has a frame of the unknown kind ${kind}`);
    const max = this.#options.maxBytes;
    if (kind === MESSAGE && this.#left > max)
      throw new Fault("overload", "the answer has a message that is larger than one may be", { data: { limit: "messageBytes", max } });
    return piece.byteLength;
  }

  #read(): UnbatchedMessage[] {
    const bytes = concat(this.#message);
    this.#message = [];
    if (bytes.byteLength === 0) {
      this.empty++;
      return [];
    }
    const message = parseMessage(decoded(bytes), this.#options);
    if (message.kind === "batch") throw new Fault("parse", "the answer has a batch in it");
    const { id } = this.#options;
    const part = message.kind === "notification" ? readPart(message, id) : undefined;
    if (part?.kind === "bad-part") throw part.fault;
    if (part !== undefined) return [part];
    return [message.kind === "notification" || message.kind === "request" ? { ...message, call: id } : message];
  }
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Fault("parse", "the answer is not UTF-8", { cause });
  }
}
