import { type Incoming, serialise } from "../../codec/index.js";
import { defaultTimeouts, Fault } from "../../core/index.js";

/** A client that has answered before may leave so many in a row unanswered. */
const MISSED = 2;
const gone = new Fault("unavailable", "the client has stopped answering pings", { data: { reason: "dead-peer" } });
const PREFIX = "anywire-alive-";

/**
 * Asks a legacy client whether it still reads the stream that is open for it: nothing else tells over HTTP/1.1, where a stream is one
 * way only. A client that has never answered is not judged by it.
 */
export class ClientPings {
  readonly #everyMs: number;
  #count = 0;
  #missed = 0;
  #answers = false;
  #last = Date.now();

  constructor(everyMs: number = defaultTimeouts.pingMs) {
    this.#everyMs = everyMs;
  }

  /** The client has shown itself. */
  seen(): void {
    this.#last = Date.now();
    this.#missed = 0;
  }

  /** Takes note of what came from the client; true if it is the answer to a ping, which is nobody else's. */
  heard(message: Incoming): boolean {
    this.seen();
    const answer = (message.kind === "result" || message.kind === "error") && String(message.id).startsWith(PREFIX);
    this.#answers ||= answer;
    return answer;
  }

  /** To be called now and then while a stream is open: gives the ping that is to be written to it, or says that the client is gone. */
  due(): string | Fault | undefined {
    // A timer may be a little early.
    if (Date.now() - this.#last < 0.9 * this.#everyMs) return undefined;
    if (this.#answers && this.#missed >= MISSED) return gone;
    this.#last = Date.now();
    this.#missed++;
    this.#count++;
    return serialise({ jsonrpc: "2.0", id: `${PREFIX}${this.#count}`, method: "ping" });
  }
}
