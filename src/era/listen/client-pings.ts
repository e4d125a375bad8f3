import { type Incoming, serialise } from "../../codec/index.js";
import { defaultTimeouts, Fault } from "../../core/index.js";

/** Pings in a row that a client may leave unanswered, if it has answered one before. */
const MISSED = 2;
const gone = new Fault("unavailable", "the client has stopped answering pings", { data: { reason: "dead-peer" } });
const PREFIX = "anywire-alive-";

/**
 * Pings a legacy client to find out whether it still reads its open stream: over HTTP/1.1 a stream goes one way only, so nothing else
 * tells. A client that has never answered a ping is not closed for it.
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

  /** The client has sent something. */
  seen(): void {
    this.#last = Date.now();
    this.#missed = 0;
  }

  /** Notes a message of the client; true if it answers a ping, so that nobody else needs it. */
  heard(message: Incoming): boolean {
    this.seen();
    const answer = (message.kind === "result" || message.kind === "error") && String(message.id).startsWith(PREFIX);
    this.#answers ||= answer;
    return answer;
  }

  /** To be called regularly while a stream is open. Returns the ping to write, or the fault if the client has left. */
  due(): string | Fault | undefined {
    // A timer may fire a little early.
    if (Date.now() - this.#last < 0.9 * this.#everyMs) return undefined;
    if (this.#answers && this.#missed >= MISSED) return gone;
    this.#last = Date.now();
    this.#missed++;
    this.#count++;
    return serialise({ jsonrpc: "2.0", id: `${PREFIX}${this.#count}`, method: "ping" });
  }
}
