import { writeSse } from "../../codec/index.js";
import { Fault, toFault } from "../../core/index.js";
import type { Exchange, Outlet } from "../../io/index.js";
import { timerMs, unref } from "../../stream/index.js";
import { sseHeaders } from "./answer.js";
import type { EventStore } from "./events.js";

export interface EventStreamOptions {
  readonly store: EventStore;
  /** The owner that its events count for. */
  readonly owner?: string;
  /**
   * Milliseconds that a sender waits for a client that is away; no limit unless given. After that it goes on, and the oldest events may be
   * dropped.
   */
  readonly awayMs?: number;
  readonly onFault: (fault: Fault) => void;
  /** Called when its connection has ended. */
  readonly onDetached?: () => void;
}

/** Milliseconds after which a client that lost its connection should come back. */
const RETRY_MS = 500;

export interface StreamAttachOptions {
  /** The event after which to resume; unless given, the first one that was not written yet. */
  readonly from?: string;
  /** Milliseconds after which the connection is closed, so that the client comes back for the rest. */
  readonly lifeMs?: number | undefined;
}

/** Characters that may wait for a client before its sender waits. */
const AHEAD = 256 * 1024;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A legacy event stream. It outlives the connection that carries it, and a client that comes back can resume it. */
export class EventStream {
  readonly name: string;
  readonly #options: EventStreamOptions;
  #outlet: Outlet | undefined;
  #unhook: (() => void) | undefined;
  #life: ReturnType<typeof setTimeout> | undefined;
  /** The last event that was written to the connection. */
  #at: string;
  /** The newest event. */
  #last: string;
  /** Characters after `#at`. */
  #ahead = 0;
  #pumping: Promise<void> | undefined;
  readonly #waiting = new Set<() => void>();
  /** Whether the connection named no event. It need not be told of events that were dropped before it came. */
  #fresh = false;
  /** Whether a sender has waited in vain for the client. */
  #away = false;
  #closed = false;
  /** Whether the last event was kept. */
  ended = false;

  constructor(name: string, options: EventStreamOptions) {
    this.name = name;
    this.#options = options;
    this.#at = this.#last = `${name}_-1`;
  }

  /** Whether a connection carries it now. */
  get attached(): boolean {
    return this.#outlet !== undefined;
  }

  /** Keeps a message. Resolves when there is room for the next. While nobody is connected, there is room until enough waits. */
  async send(text: string, final: boolean): Promise<void> {
    if (this.#closed) return;
    this.#last = await this.#options.store.append(this.name, text, this.#options.owner);
    this.#ahead += text.length;
    if (final) this.ended = true;
    if (this.#outlet !== undefined) await this.#pump();
    if (this.#outlet !== undefined || final || this.#ahead <= AHEAD) return;
    // A handler that never waits would let nothing else run.
    if (this.#away) await turn();
    else await this.#return();
  }

  /** Lets a connection carry the stream. The previous one is cut. */
  attach(exchange: Exchange, headers: Readonly<Record<string, string>>, { from, lifeMs }: StreamAttachOptions = {}): void {
    const before = this.#outlet;
    this.#detach();
    before?.abort();
    const outlet = exchange.stream(200, { ...headers, ...sseHeaders });
    this.#outlet = outlet;
    if (from !== undefined) this.#at = from;
    this.#fresh = from === undefined;
    this.#away = false;
    if (lifeMs !== undefined) this.#life = setTimeout(() => this.#finish(), timerMs(lifeMs));
    this.#unhook = exchange.onGone(() => {
      if (this.#outlet === outlet) this.#detach();
    });
    this.#wake();
    void this.#pump();
  }

  /** Names the place before the first event, so that a client can come back even if it loses that one, and says when to come back. */
  prime(): void {
    void this.#outlet?.write(`id: ${this.#at}\nretry: ${RETRY_MS}\ndata: \n\n`);
  }

  /** Whether it has a connection and nothing is being written to it. While something is, the connection is alive, or nobody reads it. */
  get quiet(): boolean {
    return this.#outlet !== undefined && this.#pumping === undefined;
  }

  /** Shows that the connection is alive, with the message if given. It is not kept as an event. */
  keepAlive(message?: string): void {
    if (this.quiet) void this.#outlet?.write(message === undefined ? ": alive\n\n" : writeSse({ event: "message", data: message }));
  }

  /** Ends the connection. Nothing is kept or sent afterwards. */
  close(): void {
    this.#closed = true;
    this.#finish();
    this.#wake();
  }

  #finish(): void {
    const outlet = this.#outlet;
    this.#detach();
    outlet?.end();
  }

  #detach(): void {
    this.#unhook?.();
    this.#unhook = undefined;
    clearTimeout(this.#life);
    if (this.#outlet === undefined) return;
    this.#outlet = undefined;
    this.#options.onDetached?.();
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** Waits for the client to come back, so that a call does not get further ahead than what is kept for it. */
  #return(): Promise<void> {
    return new Promise((resolve) => {
      const { awayMs } = this.#options;
      const timer =
        awayMs === undefined
          ? undefined
          : setTimeout(() => {
              this.#away = true;
              wake();
            }, timerMs(awayMs));
      unref(timer);
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      this.#waiting.add(wake);
    });
  }

  /** Writes the kept events that were not written yet. Only one runs at a time, so that the order is that of the store. */
  #pump(): Promise<void> {
    if (this.#outlet === undefined) return Promise.resolve();
    this.#pumping ??= this.#write().catch((error) => {
      this.#options.onFault(toFault(error));
      this.cut();
    });
    return this.#pumping;
  }

  async #write(): Promise<void> {
    try {
      for (let outlet = this.#outlet; outlet !== undefined; outlet = this.#outlet) {
        const replay = await this.#options.store.after(this.#at);
        if (this.#outlet !== outlet) continue;
        if (replay === undefined) {
          this.#lost();
          continue;
        }
        this.#fresh = false;
        this.#ahead = replay.events.reduce((sum, { text }) => sum + text.length, 0);
        for (const { id, text } of replay.events) {
          if (this.#outlet !== outlet) break;
          this.#at = id;
          this.#ahead -= text.length;
          await outlet.write(writeSse({ event: "message", id, data: text }));
        }
        if (this.#outlet !== outlet || this.#at !== this.#last) continue;
        if (this.ended) this.#finish();
        return;
      }
    } finally {
      // Here and not when the promise settles: a caller in between would wait for a pump that has stopped.
      this.#pumping = undefined;
    }
  }

  /** The next events are no longer kept. A client that was reading is cut, and learns it when it comes back. */
  #lost(): void {
    this.#options.onFault(new Fault("overload", "events of a stream were dropped before they were sent", { data: { limit: "events" } }));
    this.#at = this.#last;
    if (!this.#fresh) this.cut();
  }

  /** Cuts the connection. The client has gone, but may come back. */
  cut(): void {
    const outlet = this.#outlet;
    this.#detach();
    outlet?.abort();
  }
}
