import type { Socket } from "node:net";
import { Fault } from "../../core/index.js";
import { timerMs } from "../../stream/index.js";
import { progressOf } from "../port/stalled.js";

/** How many signs of life a server may miss, if it has shown some before. */
const MISSED = 3;

/** The server is silent. `asked`: it was also asked on a fresh connection, and did not answer there. */
export function deadPeer(ms: number, asked = false): Fault {
  return new Fault("unavailable", `nothing came from the server for ${Math.round(ms)} ms`, { data: { reason: "dead-peer", asked } });
}

/**
 * What the request waits for: the answer to a `call`, which may take long; a `head`, which a live server sends at once, whatever follows;
 * or nothing, on a stream that may be idle.
 */
export type Awaits = "call" | "head" | "nothing";

/** A request whose answer is not complete. */
export interface OpenRequest {
  /** Absent while it waits for a connection. */
  readonly socket: Socket | null | undefined;
  /** Whether its answer has begun. */
  readonly answered: boolean;
  /** Bytes of the answer that wait for their reader. */
  readonly unread: number;
  destroy(fault: Fault): void;
  /** Closes the connections to the server that have no request: they are lost, too. */
  dropIdle(): void;
}

/** An open request that is watched. */
export interface Awaited {
  readonly request: OpenRequest;
  readonly awaits: Awaits;
  /** How far its connection was when last checked, and since when. */
  read: number | undefined;
  progress: string;
  since: number;
  /** When the answer last showed a sign of life, or began. */
  beat: number;
  /** The longest time between two signs of life; 0 if there was none. */
  gap: number;
  /** Its index among the open requests. */
  readonly place: number;
}

export interface SilenceOptions {
  readonly deadMs: number;
  /**
   * Asks the server on a new connection whether it is there. Rejects if nothing comes for `deadMs`. Without it no server is asked, and
   * silence alone ends nothing.
   */
  readonly probe?: ((deadMs: number) => Promise<unknown>) | undefined;
}

/**
 * Watches the open requests of a client for servers that have gone silently. If an answer has shown signs of life, it is given up when they
 * stop. Otherwise the server is probed, because a call may be quiet for as long as it takes.
 */
export class Silence {
  readonly #options: SilenceOptions;
  /** By index: a Set took a sixth of the time of a call. */
  readonly #open: (Awaited | undefined)[] = [];
  readonly #free: number[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;
  #looked = 0;
  #asking = false;
  /** When something last arrived on any of them. */
  #heard = 0;

  constructor(options: SilenceOptions) {
    this.#options = options;
  }

  add(request: OpenRequest, awaits: Awaits): Awaited {
    const now = Date.now();
    const place = this.#free.pop() ?? this.#open.length;
    const awaited: Awaited = { request, awaits, read: undefined, progress: "", since: now, beat: now, gap: 0, place };
    this.#open[place] = awaited;
    const { deadMs } = this.#options;
    if (this.#timer === undefined && Number.isFinite(deadMs)) {
      this.#looked = now;
      this.#timer = setInterval(() => this.#look(), timerMs(Math.max(deadMs / 8, 5)));
      this.#timer.unref();
    }
    return awaited;
  }

  remove(awaited: Awaited): void {
    if (this.#open[awaited.place] !== awaited) return;
    this.#open[awaited.place] = undefined;
    this.#free.push(awaited.place);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    if (this.#open.length === this.#free.length) return this.stop();
    const now = Date.now();
    const { deadMs } = this.#options;
    // If this process was blocked or asleep, it has not read what arrived meanwhile.
    const heldUp = now - this.#looked > deadMs / 2;
    this.#looked = now;
    let ask = false;
    for (const awaited of this.#open) {
      if (awaited === undefined) continue;
      const { request, awaits, gap } = awaited;
      const socket = request.socket ?? undefined;
      const progress = progressOf(socket);
      const read = socket?.bytesRead;
      const more = read !== awaited.read;
      if (more && awaited.read !== undefined) this.#heard = now;
      awaited.read = read;
      // A request that waits for a connection, or for its reader, does not wait for the server.
      if (heldUp || socket === undefined || more || progress !== awaited.progress || request.unread > 0) {
        awaited.progress = progress;
        awaited.since = now;
      }
      if (now - awaited.since < Math.max(deadMs, MISSED * gap)) continue;
      const owed = socket?.connecting === true || (request.answered ? gap > 0 : awaits === "head");
      if (owed) this.#giveUp(awaited);
      else ask ||= awaits === "call";
    }
    if (ask) void this.#ask();
  }

  /** Asks the server once for all silent requests. */
  async #ask(): Promise<void> {
    const { probe, deadMs } = this.#options;
    if (this.#asking || probe === undefined) return;
    this.#asking = true;
    const asked = Date.now();
    const there = await probe(deadMs).then(
      () => true,
      () => this.#heard > asked,
    );
    this.#asking = false;
    const now = Date.now();
    for (const awaited of this.#open) {
      if (awaited === undefined) continue;
      if (there) awaited.since = now;
      else if (now - awaited.since >= deadMs) this.#giveUp(awaited, true);
    }
  }

  #giveUp(awaited: Awaited, asked = false): void {
    this.remove(awaited);
    awaited.request.dropIdle();
    awaited.request.destroy(deadPeer(Date.now() - awaited.since, asked));
  }
}

/** Notes that the answer has just shown a sign of life. */
export function beat(awaited: Awaited): void {
  const now = Date.now();
  awaited.gap = Math.max(awaited.gap, now - awaited.beat, 1);
  awaited.beat = now;
}
