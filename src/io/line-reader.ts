import type { Readable } from "node:stream";
import {
  blobLines,
  type IncomingError,
  type IncomingResult,
  type Line,
  type LineFramer,
  type LinkMessage,
  lineFramer,
  parseLine,
} from "../codec/index.js";
import { Fault, toFault } from "../core/index.js";
import type { Iteration } from "../stream/index.js";
import type { FrameReader, Framing } from "./framing.js";
import type { LongReads } from "./long-reads.js";
import { whyTlsFailed } from "./unreached.js";

export interface LineReader extends Iteration<readonly LinkMessage[]> {
  /** The peer has gone: returns what it still sent, then throws the fault. */
  finish(fault: Fault): void;
  /** Checks again whether it may continue. */
  wake(): void;
  /** Stops reading. A pending next() and all later ones end; one of them throws the reason, if given. */
  stop(reason?: Fault): void;
}

export interface LineReaderOptions {
  readonly maxBytes: number;
  readonly depth: number;
  /** Bad messages after which the link is closed, in addition to those that are forgiven. */
  readonly badMessages: number;
  /** How messages are framed; as lines unless given. */
  readonly framing?: Framing | undefined;
  /** Handles answers to reads that are too long to be held in memory. */
  readonly reads?: LongReads | undefined;
  /** Called once, at the end or with the fault that broke the stream. Returns the fault to throw instead. */
  readonly onEnd: (fault: Fault | undefined) => Promise<Fault | undefined>;
}

/** Milliseconds that finish() waits for the rest in total, in case another process holds the stream open. */
const restMs = 200;

/**
 * Lines that are parsed at a time. What is not a message costs far more than what is one, and a chunk has room for thousands of them. Of the
 * parts of an answer one is given out at a time: its reader says with each whether it is behind.
 */
const linesAtOnce = 128;

/**
 * Milliseconds that a link may use of one turn of the event loop, for parsing and for what its reader does with the messages. Otherwise a
 * peer that sends without end would keep timers, signals and all other peers waiting.
 */
const sliceMs = 5;

/** Bad messages that a peer is forgiven in a second. */
const forgivenASecond = 1000;

const end: IteratorResult<readonly LinkMessage[], undefined> = { done: true, value: undefined };

/** Reads newline-delimited JSON-RPC from a readable, only as far as its reader asks, so that a slow reader slows the peer down. */
export function lineReader(readable: Readable, options: LineReaderOptions): LineReader {
  return new ReadableReader(readable, options);
}

type Framed = Line | LinkMessage;

interface Waiting {
  resolve(result: IteratorResult<readonly LinkMessage[], undefined>): void;
  reject(fault: Fault): void;
}

interface Finishing {
  readonly tag: "finishing";
  readonly fault: Fault;
  /** Started the first time that nothing was there. When it fires, the wait for the rest is over. */
  timer?: NodeJS.Timeout;
  over: boolean;
}

type State =
  | { readonly tag: "open" }
  | Finishing
  | { readonly tag: "ending" } // the reader waits for the result of onEnd
  | { readonly tag: "ended"; fault?: Fault | undefined };

class ReadableReader implements LineReader {
  readonly #readable: Readable;
  readonly #options: LineReaderOptions;
  readonly #framer: LineFramer | FrameReader;
  #state: State = { tag: "open" };
  #waiting: Waiting | undefined;
  /** Set when the stream has ended, with the fault if it broke. */
  #closed: { readonly fault?: Fault } | undefined;
  /** Whether the framer has returned its last message. */
  #flushed = false;
  /** Lines of the last chunk that are not parsed yet, or messages that are not returned yet. */
  #lines: readonly Framed[] = [];
  /** When the link began to use this turn of the event loop. */
  #since = 0;
  /** Whether the link has used up its part of this turn. */
  #resting = false;
  /** Bad messages that are not forgiven yet. */
  #bad = 0;
  #badSince = 0;

  constructor(readable: Readable, options: LineReaderOptions) {
    this.#readable = readable;
    this.#options = options;
    this.#framer =
      options.framing?.reader(options) ??
      lineFramer({ maxBytes: options.maxBytes, long: options.reads && [blobLines(options.maxBytes), options.reads] });
    readable.on("readable", this.#onReadable);
    readable.on("end", this.#onClose);
    readable.on("close", this.#onClose);
    readable.on("error", this.#onError);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<readonly LinkMessage[], undefined>> {
    if (this.#waiting !== undefined) return Promise.reject(new Fault("internal", "a link has one reader"));
    if (this.#state.tag === "ended") {
      const { fault } = this.#state;
      this.#state.fault = undefined;
      return fault === undefined ? Promise.resolve(end) : Promise.reject(fault);
    }
    let batch: readonly LinkMessage[] | undefined;
    let broken: Fault | undefined;
    this.#rest();
    try {
      if (!this.#stopped) batch = this.#take();
    } catch (error) {
      broken = toFault(error);
    }
    if (batch !== undefined) return Promise.resolve({ done: false, value: batch });
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      if (this.#stopped) return;
      if (broken !== undefined) this.#conclude(broken);
      else this.#starve();
    });
  }

  return(): Promise<IteratorResult<readonly LinkMessage[], undefined>> {
    this.stop();
    return Promise.resolve(end);
  }

  finish(fault: Fault): void {
    if (this.#state.tag !== "open") return;
    this.#state = { tag: "finishing", fault, over: false };
    this.#wake();
  }

  stop(reason?: Fault): void {
    if (this.#state.tag === "ended") return;
    this.#detach();
    this.#settle(reason);
  }

  get #stopped(): boolean {
    return this.#resting || this.#options.reads?.paused === true;
  }

  wake(): void {
    this.#wake();
  }

  /** The next messages, without waiting. */
  #take(): readonly LinkMessage[] | undefined {
    if (this.#lines.length > 0) return this.#parse(this.#lines);
    for (;;) {
      const chunk = this.#readable.read() as Uint8Array | null;
      if (chunk === null) break;
      const batch = this.#parse(this.#framer.push(chunk));
      if (batch !== undefined) return batch;
    }
    if (this.#closed === undefined || this.#flushed) return undefined;
    this.#flushed = true;
    return this.#parse(this.#framer.end());
  }

  #parse(lines: readonly Framed[]): readonly LinkMessage[] | undefined {
    if (lines.length === 0) return undefined;
    const [first] = lines;
    const most = typeof first === "object" && "message" in first ? 1 : linesAtOnce;
    const many = lines.length > most;
    const batch = (many ? lines.slice(0, most) : lines).map((line) =>
      typeof line === "object" && "kind" in line ? line : parseLine(line, this.#options),
    );
    this.#lines = many ? lines.slice(most) : [];
    const { reads } = this.#options;
    if (reads?.any === true)
      for (const message of batch) if (message.kind === "result" || message.kind === "error") answered(reads, message);
    let bad = 0;
    for (const { kind } of batch) if (kind === "bad") bad++;
    if (bad > 0) this.#countBad(bad);
    return batch;
  }

  /** A peer may write some log lines between its messages. If it sends hardly anything else, the link is closed. */
  #countBad(bad: number): void {
    const now = performance.now();
    this.#bad = Math.max(0, this.#bad - ((now - this.#badSince) / 1000) * forgivenASecond) + bad;
    this.#badSince = now;
    const max = this.#options.badMessages;
    if (this.#bad > max)
      throw new Fault("overload", "the peer sends too much that is not a message", { data: { limit: "badMessages", max } });
  }

  /** Yields the rest of the turn to others once the link has used its part. */
  #rest(): void {
    if (this.#resting) return;
    const now = performance.now();
    if (this.#since === 0) this.#since = now;
    if (now - this.#since < sliceMs) return;
    this.#resting = true;
    setImmediate(this.#rested);
  }

  #rested = (): void => {
    this.#resting = false;
    this.#since = 0;
    this.#wake();
  };

  #onReadable = (): void => {
    this.#since = 0;
    this.#wake();
  };

  #wake = (): void => {
    const waiting = this.#waiting;
    if (waiting === undefined || this.#stopped || this.#state.tag === "ending") return;
    try {
      const batch = this.#take();
      if (batch === undefined) {
        this.#starve();
      } else {
        this.#waiting = undefined;
        waiting.resolve({ done: false, value: batch });
      }
    } catch (error) {
      this.#conclude(toFault(error));
    }
  };

  /** Called when a reader waits and there is nothing to return. */
  #starve(): void {
    const state = this.#state;
    if (this.#closed !== undefined) {
      this.#conclude(state.tag === "finishing" ? state.fault : this.#closed.fault);
    } else if (state.tag === "finishing") {
      if (state.over) this.#conclude(state.fault);
      else state.timer ??= setTimeout(this.#giveUp, restMs, state);
    }
  }

  #giveUp = (state: Finishing): void => {
    state.over = true;
    this.#wake();
  };

  #conclude(fault: Fault | undefined): void {
    this.#detach();
    this.#state = { tag: "ending" };
    void this.#options.onEnd(fault).then(
      (said) => this.#settle(said),
      (error: unknown) => this.#settle(toFault(error)),
    );
  }

  #settle(fault: Fault | undefined): void {
    if (this.#state.tag === "ended") return;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#state = { tag: "ended", fault: waiting === undefined ? fault : undefined };
    if (fault === undefined) waiting?.resolve(end);
    else waiting?.reject(fault);
  }

  #onClose = (): void => {
    this.#closed ??= {};
    this.#wake();
  };

  #onError = (cause: Error): void => {
    const why = whyTlsFailed(cause) ?? "reading from the peer failed";
    this.#closed ??= { fault: new Fault("unavailable", why, { data: { reason: "read-failed" }, cause }) };
    this.#wake();
  };

  #detach(): void {
    if (this.#state.tag === "finishing") clearTimeout(this.#state.timer);
    this.#readable.off("readable", this.#onReadable);
    this.#readable.off("end", this.#onClose);
    this.#readable.off("close", this.#onClose);
    this.#readable.off("error", this.#onError);
    // Errors after the end do not matter, but must not be uncaught.
    this.#readable.off("error", ignore).on("error", ignore);
  }
}

function answered(reads: LongReads, { id }: IncomingResult | IncomingError): void {
  if (id !== undefined) reads.answered(id);
}

function ignore(): void {}
