import { type Account, Fault, type Held, LITTLE_BYTES, toFault, WHOLE_PART } from "../../core/index.js";
import type { Iteration } from "../../stream/index.js";
import { NARROW, WINDOW } from "./bounds.js";
import { decompress, type MessageCoding } from "./coding.js";
import { Deframer } from "./deframer.js";
import { rejected } from "./gate.js";

type Batch = readonly Uint8Array[];
type Next = IteratorResult<Batch, undefined>;

/** Bytes that wait for the reader before the stream is held up: the peer then has its window left to fill. */
const HIGH_WATER = 256 * 1024;
/** What a message counts for beyond its bytes: one without any takes memory, too. */
const OVERHEAD = 64;

const end: Next = { done: true, value: undefined };

export interface InboxOptions {
  readonly messageBytes: number;
  /** Where what came and was not taken is counted, if it is. */
  readonly account?: Account | undefined;
  /** Milliseconds for a message to arrive whole; any time unless given. */
  readonly messageMs?: number | undefined;
  /** Little may wait for the reader. */
  readonly narrow?: boolean;
  /** All bytes have come, or they made no sense: then with the fault, which may come after the end. Not called once the call is over. */
  readonly onEnd: (fault: Fault | undefined) => void;
  /** The reader left before the end. */
  readonly onLeave: () => void;
  /** The stream is read no further for now, or again. */
  readonly onHold?: (held: boolean) => void;
}

/** Where the bytes of a call come from. */
export interface ByteSource {
  /** The peer may send so much ahead from now on. */
  widen?(window: number): void;
  pause(): unknown;
  resume(): unknown;
}

/** The incoming half of a call: a stream's chunks in, batches of messages out. One reader. */
export class Inbox implements Iteration<Batch> {
  readonly #options: InboxOptions;
  readonly #deframer: Deframer;
  /** Bytes that may wait for the reader. */
  readonly #most: number;
  readonly #held: Held | undefined;
  /** Runs while a message is incomplete. */
  #late: NodeJS.Timeout | undefined;
  #stream: ByteSource | undefined;
  #encoding: MessageCoding = "identity";
  #batch: Uint8Array[] = [];
  /** What the batch counts for. */
  #bytes = 0;
  /** Once a compressed message waits, all that follow wait behind it. */
  #packed: { readonly data: Uint8Array; readonly compressed: boolean }[] = [];
  #packedBytes = 0;
  #inflating = false;
  #dropped = false;
  #paused = false;
  #bounded = true;
  #waiting: { resolve(next: Next): void; reject(fault: Fault): void } | undefined;
  /** No more bytes count. */
  #closed = false;
  /** How it ends for the reader, once there is nothing left to take. */
  #finished: { fault: Fault | undefined } | undefined;

  constructor(options: InboxOptions) {
    this.#options = options;
    this.#most = options.narrow === true ? NARROW : HIGH_WATER;
    this.#held = options.account?.hold();
    this.#deframer = new Deframer(options.messageBytes, this.#onFrame);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** What comes is this stream's. */
  open(stream: ByteSource): void {
    this.#stream = stream;
  }

  /** Whom what it holds counts for, once that is known. */
  claim(principal: string): void {
    this.#held?.claim(principal);
  }

  set encoding(encoding: MessageCoding) {
    this.#encoding = encoding;
  }

  next(): Promise<Next> {
    if (this.#batch.length > 0) return Promise.resolve({ done: false, value: this.#batched() });
    if (this.#waiting !== undefined) return rejected(new Fault("internal", "the messages of a call have one reader"));
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#settle();
    });
  }

  return(): Promise<Next> {
    const left = this.#finished === undefined;
    this.stop(undefined);
    if (left) this.#options.onLeave();
    return Promise.resolve(end);
  }

  /** The call is over: the reader still gets what came, then the end or the fault. The first one counts. */
  finish(fault: Fault | undefined): void {
    this.#closed = true;
    this.#finished ??= { fault };
    this.#settle();
  }

  /** The call is over at once: what waits is dropped. */
  stop(fault: Fault | undefined): void {
    this.#drop();
    this.finish(fault);
    this.drain();
  }

  /** Reads the rest whether or not anybody takes it: of a stream that can bring no more than is here, or whose rest is dropped. */
  drain(): void {
    this.#bounded = false;
    this.#resume();
  }

  #drop(): void {
    this.#dropped = true;
    this.#batch = [];
    this.#packed = [];
    this.#bytes = this.#packedBytes = 0;
    this.#deframer.drop();
    clearTimeout(this.#late);
    this.#held?.free();
  }

  /** All there is, unless that is more than a reader should get before it can say that it has enough. */
  #batched(): Batch {
    const batch = this.#batch;
    let count = batch.length;
    if (this.#bytes <= this.#most) {
      this.#batch = [];
      this.#bytes = 0;
    } else {
      count = 0;
      for (const most = this.#bytes - this.#most; this.#bytes > most; count++) this.#bytes -= OVERHEAD + (batch[count]?.length ?? 0);
      this.#batch = batch.slice(count);
    }
    if (this.#held !== undefined && this.#held.bytes > 0) this.#held.set(this.#counted);
    if (this.#packed.length > 0) void this.#inflate();
    if (this.#paused && this.#bytes + this.#packedBytes < this.#most) this.#resume();
    return count === batch.length ? batch : batch.slice(0, count);
  }

  #resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#stream?.resume();
    this.#options.onHold?.(false);
  }

  /** Gives a waiting reader what there is. */
  #settle(): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    if (this.#batch.length > 0) {
      this.#waiting = undefined;
      waiting.resolve({ done: false, value: this.#batched() });
    } else if (this.#finished !== undefined && this.#packed.length === 0 && !this.#inflating) {
      this.#waiting = undefined;
      const { fault } = this.#finished;
      this.#finished.fault = undefined;
      if (fault === undefined) waiting.resolve(end);
      else waiting.reject(fault);
    }
  }

  /** Takes bytes of the stream; `borrowed` ones are used again after the call. */
  take(chunk: Uint8Array, borrowed: boolean): void {
    if (this.#closed) return;
    try {
      this.#deframer.push(chunk, borrowed);
    } catch (error) {
      this.#end(toFault(error));
      return;
    }
    this.#settle();
    if (this.#held !== undefined) {
      this.#timed();
      const over = this.#count(this.#counted);
      // What is incomplete cannot wait until there is room: what is missing would take more.
      if (over !== undefined && this.#deframer.partial) return this.#end(over);
    }
    // Of a large message only a part fits the window: it is not to come piece by piece.
    if (this.#deframer.missing > NARROW / 2) this.#stream?.widen?.(Math.min(WINDOW, this.#deframer.missing + NARROW));
    if (this.#bytes + this.#packedBytes >= this.#most && this.#bounded && !this.#paused) {
      this.#paused = true;
      this.#stream?.pause();
      this.#options.onHold?.(true);
    }
  }

  /** The stream brings no more. */
  ended(): void {
    if (!this.#closed) this.#end(this.#deframer.partial ? new Fault("internal", "the stream ended inside a message") : undefined);
  }

  /** What came and was not taken. */
  get #counted(): number {
    return this.#bytes + this.#packedBytes + this.#deframer.held;
  }

  /** Counts what is there. The fault is of one share that has no room for it, unless it is small. */
  #count(bytes: number, part?: number): Fault | undefined {
    const held = this.#held;
    if (held === undefined || (bytes <= LITTLE_BYTES && held.bytes === 0)) return undefined;
    return held.count(bytes, part);
  }

  /** A message that has begun has its time. */
  #timed(): void {
    const { messageMs } = this.#options;
    if (!this.#deframer.partial) {
      if (this.#late === undefined) return;
      clearTimeout(this.#late);
      this.#late = undefined;
    } else if (messageMs !== undefined) {
      this.#late ??= setTimeout(() => {
        const data = { limit: "messageMs", max: messageMs };
        if (!this.#closed) this.#end(new Fault("deadline", `a message did not arrive whole within ${messageMs} ms`, { data }));
      }, messageMs).unref();
    }
  }

  #end(fault: Fault | undefined): void {
    this.#closed = true;
    clearTimeout(this.#late);
    this.#options.onEnd(fault);
  }

  readonly #onFrame = (data: Uint8Array, compressed: boolean): void => {
    if (!compressed && this.#packed.length === 0 && !this.#inflating) {
      this.#batch.push(data);
      this.#bytes += OVERHEAD + data.length;
      return;
    }
    this.#packed.push({ data, compressed });
    this.#packedBytes += OVERHEAD + data.length;
    void this.#inflate();
  };

  /** One message after the other, and none ahead of a reader that has enough. */
  async #inflate(): Promise<void> {
    if (this.#inflating) return;
    this.#inflating = true;
    try {
      while (this.#bytes < this.#most) {
        const first = this.#packed.shift();
        if (first === undefined) break;
        this.#packedBytes -= OVERHEAD + first.data.length;
        const { data, compressed } = first;
        const message = compressed ? await this.#unpacked(data) : data;
        if (this.#dropped) return;
        this.#batch.push(message);
        this.#bytes += OVERHEAD + message.length;
        this.#count(this.#counted);
        this.#settle();
      }
    } catch (error) {
      this.#broken(toFault(error));
    } finally {
      this.#inflating = false;
      this.#settle();
    }
  }

  #unpacked(data: Uint8Array): Promise<Uint8Array> {
    const grow = (bytes: number): Fault | undefined =>
      this.#dropped ? dropped() : this.#count(this.#counted + data.length + bytes, WHOLE_PART);
    return decompress(this.#encoding, data, { limit: this.#options.messageBytes, grow });
  }

  /** What could not be inflated may come to light after the end. */
  #broken(fault: Fault): void {
    this.#packed = [];
    this.#packedBytes = 0;
    if (this.#dropped) return;
    this.#count(this.#counted);
    if (this.#finished === undefined) this.#end(fault);
    else this.#finished.fault = fault;
  }
}

function dropped(): Fault {
  return new Fault("cancelled", "the call has ended");
}
