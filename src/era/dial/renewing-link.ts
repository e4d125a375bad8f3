import {
  hasRoom,
  type Id,
  isBatch,
  type Link,
  type LinkMessage,
  type LinkTraits,
  namedCall,
  type Outgoing,
  type OutgoingMessage,
  type SendOptions,
  sharedStream,
} from "../../codec/index.js";
import { type DialOptions, defaultTimeouts, Fault, fixedTimeouts, RELEASE, toFault } from "../../core/index.js";
import { Backoff, type Iteration, type IterationStep, timerMs } from "../../stream/index.js";
import { anywireKeys } from "../keys.js";
import { safeListener } from "../safe-listener.js";
import { type LinkWatch, linkWatch } from "../watch/link-watch.js";
import { inTime } from "./in-time.js";
import { LinkState } from "./link-state.js";
import { isForGood } from "./loss.js";
import { WaitingCalls } from "./waiting-calls.js";

/** Milliseconds after a failed attempt in which nobody gets another one by asking whether the server is there. */
const ASKED_MS = 4_000;

type MessagesStep = IterationStep<readonly LinkMessage[]>;

export interface RenewingOptions<L extends Link> extends DialOptions {
  /** Opens a fresh link. The signal aborts when it is no longer wanted. Undefined: a lost link stays lost. */
  readonly connect: ((signal: AbortSignal) => Promise<L>) | undefined;
  /** Whether the first link is known to lead to a server. If not, losing it before anything arrived is final. */
  readonly proven?: boolean | undefined;
  /** Frees what the links share, after the last of them has ended. */
  readonly released?: (() => Promise<void>) | undefined;
}

/** A link that outlives the links it is made of. */
export interface RenewingLink<L extends Link> extends Link {
  /** The current link, if there is one. */
  readonly now: L | undefined;
  /** The current link, or the next one as soon as it is restored. */
  current(): Promise<L>;
  /** The method of an open call. */
  methodOf(call: Id): string | undefined;
}

/**
 * Makes one lasting link of `first` and of those that replace it. When a link is lost, the calls on it fail once, because they may have
 * run. Then a fresh one is opened and restored: at once if a legacy session or a subscription needs it, otherwise with the next call. Calls
 * that are made meanwhile wait for it, for `reconnectMs` at most. If the server refuses the fresh link for good, the lasting link ends.
 */
export function renewing<L extends Link>(first: L, options: RenewingOptions<L>): RenewingLink<L> {
  return new Renewing(first, options);
}

class Renewing<L extends Link> implements RenewingLink<L> {
  readonly traits: LinkTraits;
  readonly part = sharedStream.part;
  readonly incoming: AsyncIterable<readonly LinkMessage[]>;
  now: L | undefined;
  readonly #options: RenewingOptions<L>;
  readonly #watch: LinkWatch | undefined;
  readonly #state: LinkState;
  readonly #backoff: Backoff<Fault>;
  readonly #waiting: WaitingCalls<L>;
  readonly #abort = new AbortController();
  /** The link that is being read: the current one, or one that is being restored. */
  #read: L;
  #since = Date.now();
  #steps: AsyncIterator<readonly LinkMessage[], undefined>;
  /** A step that was asked for but not taken yet. */
  #begun: Promise<MessagesStep> | undefined;
  #recovery: AsyncGenerator<readonly LinkMessage[], undefined> | undefined;
  #restoring: L | undefined;
  #first = true;
  /** Whether anything arrived on it. */
  #proven: boolean;
  #closed: Fault | undefined;
  /** Checks again whether it is time to connect. */
  #wake: () => void = () => {};
  /** When connecting last failed. */
  #failedAt = 0;
  /** Whether somebody asks if the server is there, so that the next attempt is made at once. */
  #asked = false;

  constructor(first: L, options: RenewingOptions<L>) {
    this.traits = first.traits;
    this.now = this.#read = first;
    this.#options = options;
    this.#backoff = new Backoff(options.restart);
    this.#proven = options.proven ?? false;
    this.#watch = linkWatch(options, { side: "dial" });
    const { era = "auto", probeMs = defaultTimeouts.probeMs } = options;
    this.#state = new LinkState(this.#watch, safeListener(options.onFault), era === "auto" ? probeMs : undefined);
    this.#waiting = new WaitingCalls(options, () => this.#backoff.fault);
    this.#steps = first.incoming[Symbol.asyncIterator]();
    const messages: Iteration<readonly LinkMessage[]> = {
      next: () => this.#next(),
      [Symbol.asyncIterator]: () => messages,
    };
    this.incoming = messages;
  }

  get backlog(): number {
    return this.now?.backlog ?? 0;
  }

  send(message: Outgoing, options?: SendOptions): Promise<void> {
    if (isBatch(message)) return Promise.reject(new Fault("internal", "batches are received, not sent"));
    if (this.now !== undefined) return this.#state.send(this.now, message, options);
    if ("method" in message && message.method === "notifications/cancelled") {
      const call = namedCall(message.params);
      this.#state.leave(call);
      this.#waiting.leave(call);
    }
    if (isOfLostLink(message)) return hasRoom;
    const call = "method" in message && "id" in message ? message.id : undefined;
    if (asks(message) && this.#backoff.exhausted && Date.now() - this.#failedAt >= ASKED_MS) this.#asked = true;
    return this.#later(call, (link) => this.#state.send(link, message, options));
  }

  current(): Promise<L> {
    return this.now === undefined ? this.#later(undefined, async (link) => link) : Promise.resolve(this.now);
  }

  methodOf(call: Id): string | undefined {
    return this.#state.methodOf(call);
  }

  pace(call: Id, held: boolean): void {
    this.now?.pace(call, held);
  }

  async close(reason?: Fault): Promise<void> {
    if (this.#closed !== undefined) return;
    this.#closed = reason ?? new Fault("unavailable", "the link was closed", { data: { reason: "closed" } });
    this.now = this.#restoring = undefined;
    this.#abort.abort(this.#closed);
    this.#wake();
    this.#waiting.fail(this.#closed);
    await this.#read.close(reason);
    await this.#options.released?.();
  }

  #next(): Promise<MessagesStep> {
    if (this.#recovery !== undefined) return this.#recovering(this.#recovery);
    const next = this.#begun ?? this.#steps.next();
    this.#begun = undefined;
    return next.then(this.#heard, this.#broken);
  }

  readonly #heard = (step: MessagesStep): MessagesStep | Promise<MessagesStep> => {
    if (step.done === true) return this.#broken(closedByPeer());
    // A program that prints something else is no server.
    this.#proven ||= step.value.some(({ kind }) => kind !== "bad");
    const value = this.#state.take(step.value);
    return value === step.value ? step : { done: false, value };
  };

  readonly #broken = (error: unknown): Promise<MessagesStep> => {
    this.#recovery = this.#recover(toFault(error));
    return this.#recovering(this.#recovery);
  };

  async #recovering(recovery: AsyncGenerator<readonly LinkMessage[], undefined>): Promise<MessagesStep> {
    const step = await recovery.next();
    if (step.done !== true || this.#closed !== undefined) return step;
    this.#recovery = undefined;
    return this.#next();
  }

  /** The messages from the loss of a link until the next is restored. Throws if there will be none. */
  async *#recover(lost: Fault): AsyncGenerator<readonly LinkMessage[], undefined> {
    for (let reason = lost; this.#closed === undefined; ) {
      const { connect } = this.#options;
      if (connect === undefined || (this.#first && !this.#proven)) throw reason;
      if (isForGood(reason, this.now !== undefined && this.#proven ? "loss" : "refusal")) throw reason;
      this.#first = this.#proven = false;
      yield this.#leave(reason);
      const fresh = await this.#connect(connect);
      if (fresh === undefined) return;
      this.#read = fresh;
      this.#since = Date.now();
      try {
        return yield* this.#update(fresh);
      } catch (error) {
        reason = toFault(error);
      }
    }
  }

  /** Restores a fresh link. Messages that arrive meanwhile are passed on; the answers that this waits for are among them. */
  async *#update(link: L): AsyncGenerator<readonly LinkMessage[], undefined> {
    this.#steps = link.incoming[Symbol.asyncIterator]();
    const restored = this.#restore(link);
    restored.catch(() => {});
    for (;;) {
      this.#begun ??= this.#steps.next();
      const step = await Promise.race([this.#begun, restored]);
      if ("news" in step) return void (yield step.news);
      this.#begun = undefined;
      if (step.done === true) throw closedByPeer();
      this.#proven = true;
      yield this.#state.take(step.value);
    }
  }

  #leave(reason: Fault): readonly LinkMessage[] {
    if (this.now !== undefined) {
      this.#watch?.upstream({ kind: "lost", reason });
      if (Date.now() - this.#since >= fixedTimeouts.lastedMs) this.#backoff.reset();
    }
    this.now = this.#restoring = this.#begun = undefined;
    this.#failed(reason);
    this.#read.close(reason).catch(() => {});
    return this.#state.lost(reason);
  }

  /** After too many failed attempts, waiting calls fail at once. */
  #failed(reason: Fault): void {
    this.#failedAt = Date.now();
    this.#backoff.failed(reason);
    if (!this.#backoff.exhausted) return;
    if (!this.#asked) this.#watch?.upstream({ kind: "failed", reason, retryMs: this.#backoff.wait });
    this.#asked = false;
    this.#waiting.fail(exhausted(reason));
  }

  /** A fresh link, as soon as somebody needs one and it can be opened; undefined after the end. */
  async #connect(connect: (signal: AbortSignal) => Promise<L>): Promise<L | undefined> {
    while (this.#closed === undefined) {
      const needed = this.#waiting.size > 0 || this.#state.listening || this.#backoff.exhausted;
      const { wait } = this.#backoff;
      if (!needed || (wait > 0 && !this.#asked)) {
        await this.#due(needed ? wait : undefined);
        continue;
      }
      try {
        const link = await connect(this.#abort.signal);
        if (this.#closed === undefined) return link;
        await link.close(this.#closed);
      } catch (error) {
        const fault = toFault(error);
        if (isForGood(fault, "refusal")) throw fault;
        this.#failed(fault);
      }
    }
    return undefined;
  }

  /** Resolves when it may be time to connect: after a wait, or as soon as something has changed. */
  #due(wait: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      const timer = wait === undefined ? undefined : setTimeout(resolve, timerMs(wait));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Restores a fresh link, and gives it to the waiting calls. */
  async #restore(link: L): Promise<{ readonly news: readonly LinkMessage[] }> {
    const began = performance.now();
    this.#restoring = link;
    const news = await inTime(this.#state.restore(link), this.#options.handshakeMs);
    // The link may have been lost again.
    if (this.#restoring !== link) return { news: [] };
    this.now = link;
    this.#asked = false;
    this.#watch?.upstream({ kind: "restart", milliseconds: performance.now() - began });
    this.#state.reopen(link);
    this.#waiting.go(link);
    return { news };
  }

  #later<T>(call: Id | undefined, act: (link: L) => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    if (this.#backoff.exhausted && !this.#asked) return Promise.reject(exhausted(this.#backoff.fault));
    const done = this.#waiting.add(call, act);
    this.#wake();
    return done;
  }
}

function closedByPeer(): Fault {
  return new Fault("unavailable", "the peer closed the link", { data: { reason: "closed" } });
}

function exhausted(cause: Fault | undefined): Fault {
  const why = cause === undefined ? "" : `: ${cause.message}`;
  return new Fault("unavailable", `the server was lost too often, and is tried again later${why}`, {
    cause,
    data: { reason: "failed" },
  });
}

/** Whether a message asks the server no more than whether it is there. */
function asks(message: OutgoingMessage): boolean {
  return "method" in message && (message.method === "ping" || message.method === "server/discover");
}

/** Whether a message is about calls or questions that ended with their link. */
function isOfLostLink(message: OutgoingMessage): boolean {
  if (!("method" in message)) return true;
  return !("id" in message) && aboutCalls.has(message.method);
}

const aboutCalls: ReadonlySet<string> = new Set([
  "notifications/cancelled",
  "notifications/progress",
  anywireKeys.credit,
  anywireKeys.gone,
  RELEASE,
]);
