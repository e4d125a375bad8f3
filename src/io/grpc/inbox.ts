import { type Account, Fault, type Held, LITTLE_BYTES, Loan, toFault, WHOLE_PART } from "../../core/index.js";
import { type Iteration, rejected, timerMs } from "../../stream/index.js";
import { AHEAD, NARROW } from "../http2/bounds.js";
import { decompress, type MessageCoding } from "./coding.js";
import { Deframer } from "./deframer.js";

type Batch = readonly Uint8Array[];
type Next = IteratorResult<Batch, undefined>;

/** Bytes that wait for the reader before the stream is paused. The peer can then still fill its window. */
const HIGH_WATER = 256 * 1024;
/** What a message counts in addition to its bytes: an empty one takes memory too. */
const OVERHEAD = 64;

const end: Next = { done: true, value: undefined };

export interface InboxOptions {
  readonly messageBytes: number;
  /** Counts what has arrived and was not taken, if given. */
  readonly account?: Account | undefined;
  /** Milliseconds for a message to arrive whole; no limit unless given. */
  readonly messageMs?: number | undefined;
  /** Whether only little may wait for the reader. */
  readonly narrow?: boolean;
  /** Bytes that the peer should be able to send ahead, if it may begin with NARROW. */
  readonly ahead?: number;
  /**
   * Called when all bytes have arrived, or with a fault if they were invalid. The fault may come after the end. Not called once the call is
   * over.
   */
  readonly onEnd: (fault: Fault | undefined) => void;
  /** Called when the reader left before the end. */
  readonly onLeave: () => void;
  /** Called when the stream is paused, and when it is resumed. */
  readonly onHold?: (held: boolean) => void;
}

/** The source of a call's bytes. */
export interface ByteSource {
  /** Lets the peer send this much ahead from now on. */
  widen?(window: number): void;
  pause(): unknown;
  resume(): unknown;
}

/** The incoming half of a call: takes the chunks of a stream, returns batches of messages. One reader. */
export class Inbox implements Iteration<Batch> {
  readonly #options: InboxOptions;
  readonly #deframer: Deframer;
  /** Bytes that may wait for the reader. */
  readonly #most: number;
  readonly #held: Held | undefined;
  /** Runs while a message is incomplete. */
  #late: NodeJS.Timeout | undefined;
  /** Whether a message was completed since the timer was last looked at. */
  #completed = false;
  #stream: ByteSource | undefined;
  /** The bytes of the window beyond NARROW. */
  #loan: Loan | undefined;
  #encoding: MessageCoding = "identity";
  #batch: Uint8Array[] = [];
  /** What the batch counts. */
  #bytes = 0;
  /** Once a compressed message waits, all that follow wait behind it. */
  #packed: { readonly data: Uint8Array; readonly compressed: boolean }[] = [];
  #packedBytes = 0;
  #inflating = false;
  #dropped = false;
  #paused = false;
  #bounded = true;
  #waiting: { resolve(next: Next): void; reject(fault: Fault): void } | undefined;
  /** Whether further bytes are ignored. */
  #closed = false;
  /** How it ends for the reader, once everything was taken. */
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

  /** Sets the stream that the bytes come from. */
  open(stream: ByteSource): void {
    this.#stream = stream;
    this.#widen(this.#options.ahead ?? NARROW);
  }

  /** Counts what it holds for this principal, once it is known. */
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

  /** Ends the call: the reader still gets what has arrived, then the end or the fault. The first call decides. */
  finish(fault: Fault | undefined): void {
    this.#closed = true;
    this.#finished ??= { fault };
    this.#lowerLoan();
    this.#settle();
  }

  /** Ends the call at once: what waits is dropped. */
  stop(fault: Fault | undefined): void {
    this.#drop();
    this.finish(fault);
    this.drain();
  }

  /** Reads the rest whether or not anybody takes it: for a stream that can bring no more than is here, or whose rest is dropped. */
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

  /** Lets the peer send this much ahead, or as much as the process can spare. */
  #widen(window: number): void {
    const stream = this.#stream;
    if (stream?.widen === undefined || this.#closed || window <= NARROW) return;
    this.#loan ??= new Loan(this);
    this.#loan.raise(window - NARROW);
    stream.widen(NARROW + this.#loan.bytes);
  }

  /** When the call is over, only what waits for the reader still counts. */
  #lowerLoan(): void {
    if (this.#finished !== undefined) this.#loan?.lower(this.#bytes + this.#packedBytes);
  }

  /** The waiting messages, but not more than a reader should get before it can say that it has enough. */
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
    this.#lowerLoan();
    if (this.#paused && this.#bytes + this.#packedBytes < this.#most) this.#resume();
    return count === batch.length ? batch : batch.slice(0, count);
  }

  #resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#stream?.resume();
    this.#options.onHold?.(false);
    this.#timed();
  }

  /** Gives a waiting reader what is there. */
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

  /** Takes bytes of the stream. `borrowed` bytes are reused after the call. */
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
      const over = this.#count(this.#counted);
      // An incomplete message cannot wait for room: its missing part would need more.
      if (over !== undefined && this.#deframer.partial) return this.#end(over);
    }
    // Only a part of a large message fits the window, so the window is widened for the rest to come at once.
    const { ahead = NARROW } = this.#options;
    const { missing } = this.#deframer;
    if (missing > NARROW / 2) this.#widen(Math.max(ahead, Math.min(AHEAD, missing + NARROW)));
    else if (!this.#paused && ahead > NARROW) this.#widen(ahead);
    if (this.#bytes + this.#packedBytes >= this.#most && this.#bounded && !this.#paused) {
      this.#paused = true;
      this.#stream?.pause();
      this.#options.onHold?.(true);
    }
    this.#timed();
  }

  /** The stream has ended. */
  ended(): void {
    if (!this.#closed) this.#end(this.#deframer.partial ? new Fault("internal", "the stream ended inside a message") : undefined);
  }

  /** What has arrived and was not taken. */
  get #counted(): number {
    return this.#bytes + this.#packedBytes + this.#deframer.held;
  }

  /** Counts what is there. Returns the fault of a share that has no room for it, unless it is small. */
  #count(bytes: number, part?: number): Fault | undefined {
    const held = this.#held;
    if (held === undefined || (bytes <= LITTLE_BYTES && held.bytes === 0)) return undefined;
    return held.count(bytes, part);
  }

  /** Runs the timer of an incomplete message: from its beginning, and while the stream is read. A paused sender cannot send the rest. */
  #timed(): void {
    const { messageMs } = this.#options;
    const runs = messageMs !== undefined && this.#deframer.partial && !this.#paused && !this.#closed;
    if (this.#late !== undefined && (this.#completed || !runs)) {
      clearTimeout(this.#late);
      this.#late = undefined;
    }
    this.#completed = false;
    if (!runs) return;
    this.#late ??= setTimeout(() => {
      const data = { limit: "messageMs", max: messageMs };
      if (!this.#closed) this.#end(new Fault("deadline", `a message did not arrive whole within ${messageMs} ms`, { data }));
    }, timerMs(messageMs)).unref();
  }

  #end(fault: Fault | undefined): void {
    this.#closed = true;
    clearTimeout(this.#late);
    this.#options.onEnd(fault);
  }

  readonly #onFrame = (data: Uint8Array, compressed: boolean): void => {
    this.#completed = true;
    if (!compressed && this.#packed.length === 0 && !this.#inflating) {
      this.#batch.push(data);
      this.#bytes += OVERHEAD + data.length;
      return;
    }
    this.#packed.push({ data, compressed });
    this.#packedBytes += OVERHEAD + data.length;
    void this.#inflate();
  };

  /** Decompresses one message after the other, and none ahead of a reader that has enough. */
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
      this.#lowerLoan();
      this.#settle();
    }
  }

  #unpacked(data: Uint8Array): Promise<Uint8Array> {
    const grow = (bytes: number): Fault | undefined =>
      this.#dropped ? dropped() : this.#count(this.#counted + data.length + bytes, WHOLE_PART);
    return decompress(this.#encoding, data, { limit: this.#options.messageBytes, grow });
  }

  /** A failure to decompress may come to light after the end. */
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
