import type { LinkTraits } from "../../codec/index.js";
import { WINDOW_BYTES } from "../keys.js";
import type { LinkCall } from "./link-call.js";

/**
 * A read may have as much in flight as this many calls, while not too many wait for their readers: with a round trip of 20 ms and the
 * default of 1 MiB, that allows 300 MiB a second.
 */
const READ_CALLS = 6;
/** What it may have in any case. */
const READ_BYTES = 2 * WINDOW_BYTES;

/** Messages that may be read before the server is told, however light they are here: the server may weigh them differently. */
const UNTOLD = 64;

/** The credit of calls on a shared link: how much may be in flight for each, and what was read of it that the server has not been told. */
export class Credit {
  /** Whether the peer respects the credit. */
  kept = false;
  readonly #callBytes: number;
  readonly #traits: LinkTraits;
  readonly #owed = new Map<LinkCall, { messages: number; bytes: number }>();

  /** At most `callBytes` may wait for a reader. */
  constructor(callBytes: number, traits: LinkTraits) {
    this.#callBytes = callBytes;
    this.#traits = traits;
  }

  /**
   * Bytes that may be in flight for a call. A read gets more: there are few of them, and a link with a long delay is only used fully with
   * much in flight. A link within one process has no delay.
   */
  windowOf(call: LinkCall): number {
    const wide = call.request.method === "resources/read" && !this.#traits.bytes;
    return wide ? READ_BYTES + call.lent(READ_CALLS * this.#callBytes - READ_BYTES) : WINDOW_BYTES;
  }

  /** Counts a message that was read. Returns how many messages to tell the server of now, or 0 if that can wait. */
  read(call: LinkCall, bytes: number): number {
    let owed = this.#owed.get(call);
    if (owed === undefined) this.#owed.set(call, (owed = { messages: 0, bytes: 0 }));
    owed.messages++;
    owed.bytes += bytes;
    if (owed.bytes < this.windowOf(call) / 4 && owed.messages < UNTOLD) return 0;
    this.#owed.delete(call);
    return owed.messages;
  }

  /** The call has ended: nothing more arrives for it. */
  drop(call: LinkCall): void {
    this.#owed.delete(call);
  }

  clear(): void {
    this.#owed.clear();
  }
}
