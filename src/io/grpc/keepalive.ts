import { defaultTimeouts } from "../../core/index.js";
import { timerMs } from "../../stream/index.js";
import { signsOfLife } from "../socket/signs-of-life.js";
import type { Keepalive } from "./types.js";

export const defaultKeepalive: Keepalive = { intervalMs: defaultTimeouts.pingMs, timeoutMs: defaultTimeouts.timeoutMs };

export interface PingOptions extends Keepalive {
  /**
   * Milliseconds between two PINGs after the first few, while nothing but their answers comes. Servers of gRPC allow one every 5 minutes,
   * unless they send something. Beyond that they tolerate two, then they end the connection with all its calls.
   */
  readonly rareMs?: number | undefined;
}

/** For a client that does not know what its server allows. */
export const clientKeepalive: PingOptions = { ...defaultKeepalive, rareMs: 310_000 };

/** PINGs that a quiet server gets before they become rare. */
const FEW = 3;
/** Bytes of the answer to a PING. */
const ANSWER_BYTES = 17;

/** A connection that can ping its peer. */
export interface Pinged {
  readonly destroyed: boolean;
  readonly socket: object | undefined;
  ping(done: (error: Error | null) => void): unknown;
}

/** Watches a connection while it has calls: pings the peer, and gives it up if it shows no sign of life after that. */
export class Watch {
  readonly #session: Pinged;
  readonly #options: PingOptions;
  readonly #onLost: () => void;
  readonly #alive: () => boolean;
  #calls = 0;
  /** PINGs since something else than their answers came. */
  #quiet = 0;
  #asked = 0;
  #read = 0;
  #timer: NodeJS.Timeout | undefined;
  #timeout: NodeJS.Timeout | undefined;

  constructor(session: Pinged, options: PingOptions, onLost: () => void) {
    this.#session = session;
    this.#options = options;
    this.#onLost = onLost;
    this.#alive = signsOfLife(() => session.socket);
  }

  get calls(): number {
    return this.#calls;
  }

  add(): void {
    this.#calls++;
    if (this.#timer !== undefined || this.#options.intervalMs === Number.POSITIVE_INFINITY) return;
    this.#timer = setInterval(this.#ask, timerMs(this.#options.intervalMs));
    this.#timer.unref();
  }

  remove(): void {
    this.#calls--;
  }

  stop(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#timeout);
    this.#timer = this.#timeout = undefined;
  }

  readonly #ask = (): void => {
    if (this.#calls === 0) {
      this.stop();
      return;
    }
    if (this.#timeout !== undefined || this.#session.destroyed) return;
    if (this.#tooSoon()) return;
    this.#alive();
    this.#wait();
    this.#session.ping(this.#answered);
  };

  #tooSoon(): boolean {
    const { rareMs } = this.#options;
    if (rareMs === undefined) return false;
    const { socket } = this.#session;
    const read = socket !== undefined && "bytesRead" in socket ? Number(socket.bytesRead) : Number.POSITIVE_INFINITY;
    if (!(read - this.#read <= ANSWER_BYTES)) this.#quiet = 0;
    this.#read = read;
    const now = Date.now();
    if (this.#quiet >= FEW && now - this.#asked < rareMs) return true;
    this.#quiet++;
    this.#asked = now;
    return false;
  }

  #wait(): void {
    this.#timeout = setTimeout(this.#late, timerMs(this.#options.timeoutMs));
    this.#timeout.unref();
  }

  /** Large messages may be under way before the PING or its answer. */
  readonly #late = (): void => {
    if (this.#alive()) this.#wait();
    else this.#onLost();
  };

  readonly #answered = (error: Error | null): void => {
    if (error !== null) return;
    clearTimeout(this.#timeout);
    this.#timeout = undefined;
  };
}
