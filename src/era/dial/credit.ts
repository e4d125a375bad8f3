import type { LinkTraits } from "../../codec/index.js";
import { WINDOW_BYTES } from "../keys.js";
import type { LinkCall } from "./link-call.js";

/** A read may have under way what so many calls may: at 20 ms, 200 MiB a second with the default of 1 MiB. */
const READ_CALLS = 4;

/** Messages read before their server is told, however light they are here: it may weigh them otherwise. */
const UNTOLD = 64;

/** The credit of calls on a shared link: how much may be under way for each, and what was read of it that its server does not know of. */
export class Credit {
  /** Whether the peer keeps to it. */
  kept = false;
  readonly #callBytes: number;
  readonly #traits: LinkTraits;
  readonly #owed = new Map<LinkCall, { messages: number; bytes: number }>();

  /** `callBytes` may wait for a reader. */
  constructor(callBytes: number, traits: LinkTraits) {
    this.#callBytes = callBytes;
    this.#traits = traits;
  }

  /** Bytes under way for a call. A read is one of few, and fills a long line only with much under way; in one memory there is none. */
  windowOf(call: LinkCall): number {
    const wide = call.request.method === "resources/read" && !this.#traits.bytes;
    return wide ? Math.max(WINDOW_BYTES, READ_CALLS * this.#callBytes) : WINDOW_BYTES;
  }

  /** A message was read. Gives how many the server is to be told of now, and 0 while that can wait. */
  read(call: LinkCall, bytes: number): number {
    let owed = this.#owed.get(call);
    if (owed === undefined) this.#owed.set(call, (owed = { messages: 0, bytes: 0 }));
    owed.messages++;
    owed.bytes += bytes;
    if (owed.bytes < this.windowOf(call) / 4 && owed.messages < UNTOLD) return 0;
    this.#owed.delete(call);
    return owed.messages;
  }

  /** The call has ended: nothing more comes for it. */
  drop(call: LinkCall): void {
    this.#owed.delete(call);
  }

  clear(): void {
    this.#owed.clear();
  }
}
