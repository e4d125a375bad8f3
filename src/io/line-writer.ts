import type { Writable } from "node:stream";
import { blobPieces, type Outgoing, type OutgoingNotification, serialise } from "../codec/index.js";
import { Fault, messageTooLarge, toFault } from "../core/index.js";
import { type Deferred, deferred, ignore, within } from "../stream/index.js";
import type { Framing } from "./framing.js";
import { whyTlsFailed } from "./unreached.js";

export interface LineWriter {
  /** Takes a message. Resolves once there is room for the next; rejects with the reason after fail() or close(). */
  send(message: Outgoing): Promise<void>;
  /** About how many bytes were taken and have not reached the kernel yet. Text counts one byte for each UTF-16 unit. */
  readonly backlog: number;
  /** Takes no more messages and drops what waits. The first reason is kept. */
  fail(reason: Fault): void;
  /** Takes no more messages. Resolves when everything is written, when the stream breaks, or after `ms`. */
  close(reason: Fault, ms: number): Promise<void>;
}

export interface LineWriterOptions {
  /** How messages are framed; as lines unless given. */
  readonly framing?: Framing | undefined;
  /** The backlog at which send() makes its caller wait. */
  readonly highWater: number;
  /** Characters of one message. A longer one is refused. */
  readonly maxLength: number;
  /** Called once if the stream breaks by itself. */
  readonly onBroken: (fault: Fault) => void;
}

const room: Promise<void> = Promise.resolve();
/**
 * This much text is written before the tick ends. Otherwise the peer would be idle until the last message is made, and we until it has read
 * them all.
 */
const ENOUGH = 2 * 1024;
/** Bytes of the buffer in which a blob is written. It is reused, because allocating costs more than the rest of the work. */
const BLOB_BYTES = 96 * 1024;
/** How many such buffers are kept. */
const SPARE = 4;

/** Writes newline-delimited JSON-RPC to a writable. The small messages of one tick are written together. */
export function lineWriter(writable: Writable, options: LineWriterOptions): LineWriter {
  return new Writer(writable, options);
}

class Writer implements LineWriter {
  readonly #writable: Writable;
  readonly #options: LineWriterOptions;
  #pending = "";
  /** The frames of this tick, which are written together. */
  #frames: Uint8Array[] = [];
  #frameBytes = 0;
  readonly #spare: Buffer[] = [];
  #reason: Fault | undefined;
  #drained: Deferred | undefined;
  #flushed: Deferred | undefined;

  constructor(writable: Writable, options: LineWriterOptions) {
    this.#writable = writable;
    this.#options = options;
    writable.on("error", this.#broke);
    writable.on("close", this.#broke);
  }

  get backlog(): number {
    return this.#pending.length + this.#frameBytes + this.#writable.writableLength;
  }

  send(message: Outgoing): Promise<void> {
    if (this.#reason !== undefined) return Promise.reject(this.#reason);
    if (this.#options.framing !== undefined) return this.#sendFrame(message, this.#options.framing);
    if ("blob" in message) return this.#sendBlob(message as OutgoingNotification & { readonly blob: string });
    let line: string;
    try {
      line = serialise(message);
    } catch (error) {
      return Promise.reject(toFault(error));
    }
    const { maxLength } = this.#options;
    if (line.length > maxLength) return Promise.reject(messageTooLarge(maxLength));
    if (this.#pending === "") process.nextTick(this.#flush);
    this.#pending += `${line}\n`;
    if (this.#pending.length >= ENOUGH) this.#flush();
    return this.#room();
  }

  #sendFrame(message: Outgoing, framing: Framing): Promise<void> {
    try {
      const bytes = framing.write(message);
      const { maxLength } = this.#options;
      if (bytes.length > maxLength) return Promise.reject(messageTooLarge(maxLength));
      if (bytes.length === 0) return room;
      if (this.#frameBytes === 0) process.nextTick(this.#flush);
      this.#frames.push(bytes);
      this.#frameBytes += bytes.length;
      if (this.#frameBytes >= ENOUGH) this.#flush();
      return this.#room();
    } catch (error) {
      return Promise.reject(toFault(error));
    }
  }

  /** Writes bytes: base64 is always ASCII, and need not be joined with the text around it. */
  #sendBlob(message: OutgoingNotification & { readonly blob: string }): Promise<void> {
    const [head, blob, tail] = blobPieces(message.blob, message);
    const length = Buffer.byteLength(head) + blob.length + tail.length + 1;
    if (length > this.#options.maxLength) return Promise.reject(messageTooLarge(this.#options.maxLength));
    this.#flush();
    const memory = (length <= BLOB_BYTES ? this.#spare.pop() : undefined) ?? Buffer.allocUnsafeSlow(Math.max(length, BLOB_BYTES));
    let at = memory.write(head);
    at += memory.write(blob, at, "latin1");
    at += memory.write(`${tail}\n`, at, "latin1");
    this.#writable.write(memory.subarray(0, at), (error) => {
      if (this.#spare.length < SPARE && memory.byteLength === BLOB_BYTES) this.#spare.push(memory);
      this.#written(error);
    });
    return this.#room();
  }

  #room(): Promise<void> {
    if (this.backlog < this.#options.highWater) return room;
    this.#drained ??= deferred();
    return this.#drained.promise;
  }

  fail(reason: Fault): void {
    this.#reason ??= reason;
    this.#pending = "";
    this.#frames = [];
    this.#frameBytes = 0;
    this.#writable.off("error", this.#broke);
    this.#writable.off("close", this.#broke);
    // What the stream still holds may fail later. That must not be an uncaught error.
    this.#writable.off("error", ignore).on("error", ignore);
    this.#drained?.reject(this.#reason);
    this.#drained = undefined;
    this.#flushed?.resolve();
  }

  async close(reason: Fault, ms: number): Promise<void> {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#flush();
    if (this.backlog > 0) {
      this.#flushed = deferred();
      await within(this.#flushed.promise, ms);
    }
    this.fail(reason);
  }

  #flush = (): void => {
    if (this.#frameBytes > 0) {
      const frames = joined(this.#frames, this.#frameBytes);
      this.#frames = [];
      this.#frameBytes = 0;
      this.#writable.write(frames, this.#written);
    }
    if (this.#pending === "") return;
    const text = this.#pending;
    this.#pending = "";
    this.#writable.write(text, "utf8", this.#written);
  };

  #written = (error?: Error | null): void => {
    if (error) {
      this.#broke(error);
      return;
    }
    const { backlog } = this;
    if (this.#drained !== undefined && backlog < this.#options.highWater) {
      this.#drained.resolve();
      this.#drained = undefined;
    }
    if (backlog === 0) this.#flushed?.resolve();
  };

  #broke = (error?: Error): void => {
    const first = this.#reason === undefined;
    const why = whyTlsFailed(error) ?? "the peer has gone or no longer reads";
    const fault = new Fault("unavailable", why, { data: { reason: "broken-pipe" }, cause: error });
    this.fail(fault);
    if (first) this.#options.onBroken(fault);
  };
}

/** Frames as one. Those that were written one after another into the same memory are there already. */
function joined(frames: readonly Uint8Array[], bytes: number): Uint8Array {
  const [first] = frames;
  if (first === undefined) throw new Fault("internal", "there is nothing to write");
  let end = first.byteOffset;
  for (const { buffer, byteOffset, byteLength } of frames) {
    if (buffer !== first.buffer || byteOffset !== end) return Buffer.concat(frames, bytes);
    end += byteLength;
  }
  return new Uint8Array(first.buffer, first.byteOffset, bytes);
}
